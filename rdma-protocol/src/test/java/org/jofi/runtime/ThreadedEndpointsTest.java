package org.jofi.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jofi.mr.teardown.TeardownException;
import org.jofi.rdma.RdmaTransport;
import org.jofi.rdma.spi.ProgressExecutor;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Await;
import org.jofi.transport.CommState;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.driven.DrivenComm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Endpoints with threads of their own, over a simulated fabric in real time. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThreadedEndpointsTest {
  private static final int BYTES = 300_000;
  private static final Duration BOUND = Duration.ofSeconds(60);

  /** For whom something hangs. */
  private static final Duration SHORT = Duration.ofMillis(500);

  private final Await await = new Await();

  private static RdmaTransport open(ProgressExecutor.Starter drivers) {
    return open(BOUND, drivers);
  }

  private static RdmaTransport open(Duration closeTimeout, ProgressExecutor.Starter drivers) {
    RdmaEnvironment machine = Machine.environment();
    return RdmaTransport.open(
        new SimulatedProvider(),
        TransportOptions.builder()
            .provider(Profile.TCP.providerName())
            .progressThreads(ProgressThreads.ALWAYS)
            .closeTimeout(closeTimeout)
            .build(),
        new RdmaEnvironment(
            machine.clock(),
            machine.random(),
            machine.idle(),
            machine.pageBytes(),
            machine.processors(),
            drivers,
            machine.sysfs(),
            machine.deviceMemory(),
            machine.counters()));
  }

  private static void until(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + BOUND.toNanos();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, what);
      Thread.onSpinWait();
    }
  }

  private static List<String> threads(Device device) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("jofi " + device.properties().name()))
        .sorted()
        .toList();
  }

  /** Communicators of two endpoints. */
  private record Link(SendComm send, RecvComm receive) {
    static Link over(Device device) {
      // Without it, the first in each direction would have one endpoint.
      device.listen().close();
      try (ListenComm listener = device.listen();
          ConnectAttempt attempt = device.connect(listener.handle())) {
        SendComm[] sends = new SendComm[1];
        RecvComm[] receives = new RecvComm[1];
        until(
            "a connection",
            () -> {
              sends[0] = attempt.poll();
              receives[0] = receives[0] == null ? listener.accept() : receives[0];
              return sends[0] != null && receives[0] != null;
            });
        return new Link(sends[0], receives[0]);
      }
    }

    long send(MemorySegment from) {
      long[] sent = new long[1];
      until("the receive's entry", () -> (sent[0] = send.isend(from, 1)) > 0);
      return sent[0];
    }
  }

  @Test
  void messagesMoveWhileNobodyCalls() {
    Device device;
    try (Arena arena = Arena.ofShared();
        RdmaTransport transport = open(ProgressThread::start)) {
      device = transport.devices().getFirst();
      assertTrue(
          device.properties().groupingReasons().stream()
              .anyMatch(why -> why.contains("progress thread")),
          () -> device.properties().groupingReasons().toString());
      Link link = Link.over(device);
      assertEquals(2, threads(device).size(), () -> threads(device).toString());
      MemorySegment from = arena.allocate(BYTES).fill((byte) 7);
      MemorySegment to = arena.allocate(BYTES);
      long received = link.receive.irecv(to, 1);
      long sent = link.send(from);
      until("the last byte", () -> to.get(ValueLayout.JAVA_BYTE, BYTES - 1) == 7);
      assertEquals(BYTES, await.request(link.receive, received, BOUND));
      assertEquals(BYTES, await.request(link.send, sent, BOUND));
      assertEquals(-1, from.mismatch(to));
    }
    assertEquals(List.of(), threads(device));
  }

  /** Whose callers never meet the short end of a round, as if they came seldom. */
  private record Unlucky(ProgressExecutor real) implements ProgressExecutor {
    @Override
    public void ask() {
      real.ask();
    }

    @Override
    public void announce() {
      real.announce();
    }

    @Override
    public boolean announceUnlessBusy() {
      return false;
    }

    @Override
    public boolean announceWithin(long boundNs) {
      return real.announceWithin(boundNs);
    }

    @Override
    public void entered() {
      real.entered();
    }

    @Override
    public boolean isResting() {
      return real.isResting();
    }

    @Override
    public void close() {
      real.close();
    }
  }

  @Test
  void whoTestsSeldomIsToldInTheEnd() {
    try (Arena arena = Arena.ofShared();
        RdmaTransport transport =
            open(
                (label, rounds, between, closeNs) ->
                    new Unlucky(ProgressThread.start(label, rounds, between, closeNs)))) {
      Link link = Link.over(transport.devices().getFirst());
      MemorySegment from = arena.allocate(BYTES).fill((byte) 7);
      MemorySegment to = arena.allocate(BYTES);
      long received = link.receive.irecv(to, 0, BYTES, 1);
      long sent = link.send(from);
      assertEquals(BYTES, await.request(link.receive, received, BOUND));
      assertEquals(BYTES, await.request(link.send, sent, BOUND));
    }
  }

  /** As with a lock in shared memory whose holder died. */
  @Test
  void closingDoesNotWaitForWhatNeverComesBack() throws InterruptedException {
    AtomicBoolean stuck = new AtomicBoolean();
    CountDownLatch inside = new CountDownLatch(2);
    CountDownLatch goOn = new CountDownLatch(1);
    RdmaTransport transport =
        open(
            SHORT,
            (label, rounds, between, closeNs) ->
                ProgressThread.start(
                    label,
                    new ProgressExecutor.Rounds() {
                      @Override
                      public void enter() {
                        rounds.enter();
                      }

                      @Override
                      public int run() {
                        if (stuck.get()) {
                          inside.countDown();
                          ProgressThreadTest.awaitUninterrupted(goOn);
                        }
                        return rounds.run();
                      }

                      @Override
                      public boolean pays() {
                        return rounds.pays();
                      }

                      @Override
                      public void leave() {
                        rounds.leave();
                      }
                    },
                    between,
                    closeNs));
    Device device = transport.devices().getFirst();
    Link link = Link.over(device);
    stuck.set(true);
    inside.await();
    long began = System.nanoTime();
    assertEquals(Result.IN_PROGRESS, link.send.test(1));
    assertEquals(0, transport.tend());
    TransportException late = assertThrows(TransportException.class, link.send::close);
    assertEquals(FailureCause.TIMED_OUT, late.failure().cause());
    assertThrows(TransportException.class, link.send::abort);
    assertThrows(RuntimeException.class, transport::close);
    assertTrue(System.nanoTime() - began < BOUND.toNanos(), "closing is bounded");
    assertEquals(2, threads(device).size());
    goOn.countDown();
    until("another close", () -> closes(transport));
    assertEquals(List.of(), threads(device));
  }

  private static boolean closes(RdmaTransport transport) {
    try {
      transport.close();
      return true;
    } catch (TransportException | TeardownException stillOpen) {
      return false;
    }
  }

  @Test
  void tasksRunBetweenRoundsUntilTheirCommunicatorIsClosed() {
    try (RdmaTransport transport = open(ProgressThread::start)) {
      Link link = Link.over(transport.devices().getFirst());
      AtomicInteger calls = new AtomicInteger();
      AtomicInteger failures = new AtomicInteger();
      DrivenComm driven = (DrivenComm) link.send;
      assertTrue(driven.betweenRounds(calls::incrementAndGet));
      assertTrue(
          driven.betweenRounds(
              () -> {
                failures.incrementAndGet();
                throw new IllegalStateException("on purpose");
              }));
      while (calls.get() < 1000) {
        Thread.onSpinWait();
      }
      assertEquals(1, failures.get());
      link.send.close();
      assertFalse(driven.isDriven(), "nobody calls its tasks");
      int last = calls.get();
      link.receive.progress();
      assertTrue(calls.get() <= last + 1, "called after the close");
    }
  }

  @Test
  void nothingStaysOpenWithoutAThread() {
    AtomicBoolean exhausted = new AtomicBoolean(true);
    ProgressExecutor.Starter sometimes =
        (label, rounds, between, closeNs) -> {
          if (exhausted.getAndSet(false)) {
            throw new TransportException(FailureCause.EXHAUSTED, "no thread");
          }
          return ProgressThread.start(label, rounds, between, closeNs);
        };
    Device device;
    try (RdmaTransport transport = open(sometimes)) {
      device = transport.devices().getFirst();
      assertThrows(TransportException.class, device::listen);
      assertEquals(CommState.OPEN, Link.over(device).send.state());
    }
    assertEquals(List.of(), threads(device));
  }
}
