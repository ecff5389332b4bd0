package org.jofi.async;

import static org.jofi.async.Links.PATIENCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jofi.async.Links.Link;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a driver does with requests. */
@Timeout(120)
class DriverTest {
  private static final int TAG = 4;
  private static final int LONG = 100_000;

  static FailureCause causeOf(AsyncRequest request) {
    return assertThrows(TransportException.class, () -> request.await(PATIENCE)).failure().cause();
  }

  @Test
  void theValueIsTheNumberOfBytes() throws Exception {
    try (Links links = Links.simulated()) {
      Link link = links.connect();
      MemorySegment from = links.memory(LONG, 1);
      MemorySegment to = links.memory(LONG, 0);

      AsyncRequest receive = link.in().receive(to, TAG);
      AsyncRequest send = link.out().send(from, TAG);
      assertEquals(LONG, receive.get(1, TimeUnit.MINUTES));
      assertEquals(LONG, send.await(PATIENCE));
      assertEquals(-1, from.mismatch(to));
      assertEquals(Future.State.SUCCESS, send.state());

      to.fill((byte) 0);
      AsyncRequest part = link.in().receive(to, 500, 1000, TAG);
      link.out().send(from, 200, 300, TAG).await(PATIENCE);
      assertEquals(300, part.await(PATIENCE));
      assertEquals(-1, from.asSlice(200, 300).mismatch(to.asSlice(500, 300)));
      assertEquals(0, to.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 800));

      AsyncRequest nothing = link.in().receive(to, 0, 0, TAG);
      assertEquals(0, link.out().send(from, 0, 0, TAG).await(PATIENCE));
      assertEquals(0, nothing.await(PATIENCE));
    }
  }

  @Test
  void oneSidedOperationsAndRegistrations() {
    try (Links links = Links.simulated()) {
      Link link = links.connect();
      MemorySegment here = links.memory(LONG, 1);
      MemorySegment there = links.memory(LONG, 2);
      Registration window =
          link.in().register(Memory.of(there), Use.PEER_READS, Use.PEER_WRITES, Use.RECEIVE);
      Registration own = link.out().register(Memory.of(here), Use.SEND, Use.RECEIVE);

      assertEquals(1000, link.out().write(here, 0, 1000, window.remote(), 50).await(PATIENCE));
      assertEquals(-1, here.asSlice(0, 1000).mismatch(there.asSlice(50, 1000)));
      assertEquals(7, link.out().write(own, 9, 7, window.remote(), 0).await(PATIENCE));
      assertEquals(-1, here.asSlice(9, 7).mismatch(there.asSlice(0, 7)));
      assertEquals(LONG, link.out().read(here, 0, LONG, window.remote(), 0).await(PATIENCE));
      assertEquals(-1, here.mismatch(there));
      assertEquals(5, link.out().read(own, 0, 5, window.remote(), 10).await(PATIENCE));

      AsyncRequest receive = link.in().receive(window, TAG);
      assertEquals(LONG, link.out().send(own, TAG).await(PATIENCE));
      assertEquals(LONG, receive.await(PATIENCE));
      // Of host memory there is nothing to flush.
      assertEquals(0, link.in().flush(window, 0, LONG).await(PATIENCE));

      // Only the posting call knows how large the peer's memory is.
      AsyncRequest beyond = link.out().write(here, 0, 10, window.remote(), LONG - 9);
      assertThrows(IllegalArgumentException.class, () -> beyond.await(PATIENCE));
      assertEquals(1, link.out().write(here, 0, 1, window.remote(), 0).await(PATIENCE));
    }
  }

  @Test
  void wrongArgumentsAreRefusedByTheCall() {
    try (Links links = Links.simulated();
        Arena confined = Arena.ofConfined()) {
      Link link = links.connect();
      MemorySegment memory = links.memory(100, 1);
      List<Supplier<AsyncRequest>> wrong =
          List.of(
              () -> link.out().send(MemorySegment.ofArray(new byte[8]), TAG),
              () -> link.out().send(confined.allocate(8), TAG),
              () -> link.out().send(memory, 1, 100, TAG),
              () -> link.out().send(memory, -1, 1, TAG),
              () -> link.in().receive(memory, 0, -1, TAG),
              () -> link.in().receive(memory.asReadOnly(), TAG));
      for (Supplier<AsyncRequest> one : wrong) {
        assertThrows(IllegalArgumentException.class, one::get);
      }
      AsyncRequest receive = link.in().receive(memory, TAG);
      assertThrows(IllegalArgumentException.class, () -> receive.await(Duration.ofNanos(-1)));
      assertThrows(TimeoutException.class, () -> receive.get(0, TimeUnit.SECONDS));
      assertEquals(
          FailureCause.TIMED_OUT,
          assertThrows(TransportException.class, () -> receive.await(Duration.ZERO))
              .failure()
              .cause());
      link.out().send(memory, TAG).await(PATIENCE);
      assertEquals(100, receive.await(PATIENCE));
    }
  }

  @Test
  void cancelTakesBackWhatIsNotMatched() {
    try (Links links = Links.simulated()) {
      Link link = links.connect();
      MemorySegment first = links.memory(LONG, 1);
      MemorySegment second = links.memory(LONG, 2);
      MemorySegment to = links.memory(LONG, 0);

      AsyncRequest unmatched = link.out().send(first, TAG);
      assertTrue(unmatched.cancel(true));
      assertTrue(unmatched.isCancelled() && unmatched.isDone());
      assertTrue(unmatched.cancel(true), "it is cancelled");
      assertThrows(
          java.util.concurrent.CancellationException.class, () -> unmatched.await(PATIENCE));

      AsyncRequest receive = link.in().receive(to, TAG);
      assertFalse(receive.cancel(true), "a receive cannot be taken back");
      assertEquals(LONG, link.out().send(second, TAG).await(PATIENCE));
      assertEquals(LONG, receive.await(PATIENCE));
      assertEquals(-1, to.mismatch(second));
      assertFalse(receive.cancel(true));
      assertEquals(Future.State.SUCCESS, receive.state());
    }
  }

  /** One that waits to be posted, behind as many as the device has room for. */
  @Test
  void cancelTakesBackWhatIsNotPosted() throws Exception {
    try (Links links = Links.simulated()) {
      Link link = links.connect();
      MemorySegment from = links.memory(LONG, 1);
      int room = links.device.properties().limits().sendsInFlight();
      List<AsyncRequest> sends = new ArrayList<>();
      for (int i = 0; i < room + 10; i++) {
        sends.add(link.out().send(from, TAG));
      }
      for (int i = room; i < room + 10; i += 2) {
        // Also of a thread that is interrupted, as those of a scope that is shut down are.
        Thread.currentThread().interrupt();
        assertTrue(sends.get(i).cancel(true), "send " + i);
        assertTrue(Thread.interrupted());
      }
      MemorySegment to = links.memory(LONG, 0);
      for (int i = 0; i < room + 5; i++) {
        assertEquals(LONG, link.in().receive(to, TAG).await(PATIENCE));
      }
      for (int i = 0; i < sends.size(); i++) {
        assertEquals(i >= room && i % 2 == 0, sends.get(i).isCancelled(), "send " + i);
      }
    }
  }

  @Test
  void aFailureIsOneCommunicatorsAlone() {
    try (Links links = Links.simulated()) {
      Link failing = links.connect();
      Link other = links.connect();
      MemorySegment memory = links.memory(LONG, 1);
      AsyncRequest others = other.in().receive(memory, TAG);
      AsyncRequest tooShort = failing.in().receive(memory, 0, 10, TAG);
      AsyncRequest behind = failing.in().receive(memory, 0, 10, TAG + 1);
      AsyncRequest tooLong = failing.out().send(memory, TAG);

      assertTrue(
          List.of(FailureCause.TRUNCATED, FailureCause.PEER_ABORTED).contains(causeOf(tooLong)));
      assertTrue(
          List.of(FailureCause.TRUNCATED, FailureCause.PEER_ABORTED).contains(causeOf(tooShort)));
      causeOf(behind);
      // What comes later reports it too, through the same future.
      ExecutionException later =
          assertThrows(
              ExecutionException.class,
              () -> failing.out().send(memory, TAG).get(1, TimeUnit.MINUTES));
      assertInstanceOf(TransportException.class, later.getCause());

      assertEquals(LONG, other.out().send(memory, TAG).await(PATIENCE));
      assertEquals(LONG, others.await(PATIENCE));
    }
  }

  @Test
  void continuationsRunOnVirtualThreads() {
    try (Links links = Links.simulated()) {
      Link link = links.connect();
      MemorySegment memory = links.memory(100, 1);
      AsyncRequest receive = link.in().receive(memory, TAG);
      // It may block, even for the driver itself.
      CompletableFuture<Long> next =
          receive
              .toCompletableFuture()
              .thenApply(
                  bytes -> {
                    assertTrue(Thread.currentThread().isVirtual());
                    AsyncRequest another = link.in().receive(memory, TAG);
                    return bytes
                        + link.out().send(memory, 0, 7, TAG).await(PATIENCE)
                        + another.await(PATIENCE);
                  });
      CompletableFuture<Long> given = receive.toCompletableFuture();
      assertTrue(given.cancel(true));
      assertFalse(receive.isDone(), "a future for continuations is no way to cancel");
      link.out().send(memory, TAG).await(PATIENCE);
      assertEquals(114L, Links.soon(next));
    }
  }

  @Test
  void anExecutorMayBeTheDriversOwnThreadOrRefuse() {
    DriverOptions direct = DriverOptions.builder().continuations(Runnable::run).build();
    try (Links links = Links.simulated(direct)) {
      Link link = links.connect();
      MemorySegment memory = links.memory(100, 1);
      AsyncRequest receive = link.in().receive(memory, TAG);
      AsyncRequest never = link.in().receive(memory, TAG + 1);
      AsyncRequest[] posted = new AsyncRequest[1];
      CompletableFuture<Void> answered =
          receive
              .toCompletableFuture()
              .thenAccept(
                  bytes -> {
                    assertTrue(Thread.currentThread().getName().startsWith("jofi-driver"));
                    assertThrows(IllegalStateException.class, () -> never.await(PATIENCE));
                    assertThrows(IllegalStateException.class, links.driver::close);
                    assertFalse(never.cancel(true));
                    posted[0] = link.out().send(memory, TAG + 1);
                  });
      link.out().send(memory, TAG).await(PATIENCE);
      Links.soon(answered);
      assertEquals(100, posted[0].await(PATIENCE));
      assertEquals(100, never.await(PATIENCE));
    }
    DriverOptions refusing =
        DriverOptions.builder()
            .continuations(
                task -> {
                  throw new RejectedExecutionException("shut down");
                })
            .build();
    try (Links links = Links.simulated(refusing)) {
      Link link = links.connect();
      MemorySegment memory = links.memory(100, 1);
      AsyncRequest receive = link.in().receive(memory, TAG);
      link.out().send(memory, TAG).await(PATIENCE);
      assertEquals(100L, Links.soon(receive.toCompletableFuture()));
    }
  }

  /** The segment of a request in flight is held by nobody but the driver. */
  @Test
  void memoryStaysReachableUntilTheRequestIsOver() throws Exception {
    try (Links links = Links.simulated()) {
      Link link = links.connect();
      MemorySegment from = links.memory(LONG, 1);
      MemorySegment[] to = {Arena.ofAuto().allocate(LONG)};
      WeakReference<Object> scope = new WeakReference<>(to[0].scope());
      AsyncRequest receive = link.in().receive(to[0], TAG);
      to[0] = MemorySegment.NULL;
      for (int i = 0; i < 3; i++) {
        System.gc();
      }
      assertTrue(scope.get() != null, "collected under a receive");
      link.out().send(from, TAG).await(PATIENCE);
      assertEquals(LONG, receive.await(PATIENCE));
      // The registration cache finds out that the memory is gone; a request that is kept keeps
      // nothing.
      Links.await(
          "the memory's end",
          () -> {
            System.gc();
            return scope.refersTo(null);
          });
      assertTrue(receive.isDone());
    }
  }
}
