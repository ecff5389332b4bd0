package org.jofi.async;

import static org.jofi.async.Links.PATIENCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jofi.async.Links.Link;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to those who submit more than goes out. */
@Timeout(120)
class BackPressureTest {
  private static final int TAG = 4;
  private static final int LONG = 20_000;

  @Test
  void withoutRoomARequestFailsAndNothingOfItIsSent() {
    DriverOptions options =
        DriverOptions.builder().waitingRequests(8).submitTimeout(Duration.ZERO).build();
    try (Links links = Links.simulated(options)) {
      Link link = links.connect();
      MemorySegment from = links.memory(LONG, 1);
      int most = links.device.properties().limits().sendsInFlight();
      List<AsyncRequest> sends = new ArrayList<>();
      AsyncRequest last = link.out().send(from, TAG);
      // It waits for the driver to come to some of them, and never for room.
      while (!last.isDone()
          || DriverTest.causeOf(last) != FailureCause.EXHAUSTED
          || sends.size() < most) {
        if (!last.isDone()) {
          sends.add(last);
        } else {
          Thread.yield();
        }
        assertTrue(sends.size() <= most + 8, "more than there is room for");
        last = link.out().send(from, TAG);
      }
      // One-sided operations do not wait for messages, nor for their room.
      MemorySegment to = links.memory(LONG, 0);
      Registration window = link.in().register(Memory.of(to), Use.PEER_WRITES);
      assertEquals(10, link.out().write(from, 0, 10, window.remote(), 0).await(PATIENCE));

      List<AsyncRequest> receives = new ArrayList<>();
      for (AsyncRequest send : sends) {
        receives.add(link.in().receive(to, TAG));
        assertEquals(LONG, receives.getLast().await(PATIENCE));
        assertEquals(LONG, send.await(PATIENCE));
      }
      assertTrue(link.out().send(from, TAG).cancel(true), "what is asked waits for its answer");
      AsyncRequest more = link.in().receive(to, TAG);
      assertEquals(LONG, link.out().send(from, TAG).await(PATIENCE));
      assertEquals(LONG, more.await(PATIENCE));
    }
  }

  @Test
  void whoWaitsForRoomIsParkedUntilThereIsSome() throws Exception {
    DriverOptions options = DriverOptions.builder().waitingRequests(2).commands(2).build();
    try (Links links = Links.simulated(options)) {
      Link link = links.connect();
      int most = links.device.properties().limits().sendsInFlight();
      int messages = most + 40;
      MemorySegment from = links.memory(4L * messages, 0);
      MemorySegment to = links.memory(4, 0);
      AtomicInteger submitted = new AtomicInteger();
      List<AsyncRequest> sends = new ArrayList<>();
      CompletableFuture<Thread> submitter = new CompletableFuture<>();
      Thread sender =
          Thread.ofVirtual()
              .start(
                  () -> {
                    submitter.complete(Thread.currentThread());
                    for (int i = 0; i < messages; i++) {
                      from.setAtIndex(ValueLayout.JAVA_INT, i, i);
                      sends.add(link.out().send(from, 4L * i, 4, TAG));
                      submitted.incrementAndGet();
                    }
                  });
      // Each thread's messages arrive in the order in which it submitted them.
      for (int i = 0; i < messages; i++) {
        assertEquals(4, link.in().receive(to, TAG).await(PATIENCE));
        assertEquals(i, to.get(ValueLayout.JAVA_INT, 0));
      }
      assertTrue(sender.join(PATIENCE));
      assertEquals(messages, submitted.get());
      for (AsyncRequest send : sends) {
        assertEquals(4, send.await(PATIENCE));
      }
    }
  }

  @Test
  void anInterruptEndsTheWaitForRoom() throws Exception {
    DriverOptions options = DriverOptions.builder().waitingRequests(1).build();
    try (Links links = Links.simulated(options)) {
      Link link = links.connect();
      MemorySegment from = links.memory(LONG, 1);
      CompletableFuture<AsyncRequest> failed = new CompletableFuture<>();
      AtomicBoolean stayed = new AtomicBoolean();
      Thread sender =
          Thread.ofVirtual()
              .start(
                  () -> {
                    AsyncRequest last = link.out().send(from, TAG);
                    while (!last.isDone()) {
                      last = link.out().send(from, TAG);
                    }
                    stayed.set(Thread.currentThread().isInterrupted());
                    failed.complete(last);
                  });
      Links.await("a parked sender", () -> sender.getState() == Thread.State.TIMED_WAITING);
      sender.interrupt();
      AsyncRequest last = Links.soon(failed);
      assertEquals(FailureCause.INTERRUPTED, DriverTest.causeOf(last));
      assertTrue(stayed.get());
      assertFalse(links.driver.failure().isPresent());
    }
  }

  /** One that floods its communicator is held up by its own lane and takes turns with others. */
  @Test
  void aFloodLeavesOthersTheirTurn() throws Exception {
    DriverOptions options = DriverOptions.builder().waitingRequests(64).build();
    try (Links links = Links.simulated(options)) {
      Link flooded = links.connect();
      Link other = links.connect();
      Link blocked = links.connect();
      MemorySegment from = links.memory(LONG, 1);
      MemorySegment to = links.memory(LONG, 0);
      // Nobody receives from this one: its sends fill what there is room for, and stay.
      for (int i = 0; i < links.device.properties().limits().sendsInFlight() + 64; i++) {
        assertFalse(blocked.out().send(from, TAG).isDone());
      }
      AtomicBoolean stop = new AtomicBoolean();
      AtomicLong flood = new AtomicLong();
      List<Thread> flooders = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        int tag = i;
        flooders.add(
            Thread.ofVirtual()
                .start(
                    () -> {
                      while (!stop.get()) {
                        AsyncRequest receive = flooded.in().receive(to, 0, 64, tag);
                        AsyncRequest send = flooded.out().send(from, 0, 64, tag);
                        if (flood.incrementAndGet() % 32 == 0) {
                          send.await(PATIENCE);
                          receive.await(PATIENCE);
                        }
                      }
                    }));
      }
      Links.await("a flood", () -> flood.get() > 1_000);
      long before = flood.get();
      int rounds = 50;
      for (int i = 0; i < rounds; i++) {
        AsyncRequest receive = other.in().receive(to, 0, 64, TAG);
        other.out().send(from, 0, 64, TAG).await(PATIENCE);
        assertEquals(64, receive.await(PATIENCE));
      }
      long meanwhile = flood.get() - before;
      stop.set(true);
      for (Thread flooder : flooders) {
        assertTrue(flooder.join(PATIENCE));
      }
      // A round trip waits for a few full turns of the others, each of at most so many requests.
      assertTrue(meanwhile < 10_000L * rounds, () -> meanwhile + " messages of a flood passed");
    }
  }
}
