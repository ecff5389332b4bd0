package org.jofi.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReference;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Waiting on a clock that moves by 1 ns per look. */
class AwaitTest {
  private long now = Long.MAX_VALUE - 5;
  private final Await await = new Await(_ -> {}, () -> now++);

  /** A communicator whose tests return those, the last one for ever. */
  private static Comm comm(Optional<Failure> failure, Long... results) {
    Queue<Long> left = new ArrayDeque<>(List.of(results));
    return (Comm)
        Proxy.newProxyInstance(
            Comm.class.getClassLoader(),
            new Class<?>[] {Comm.class},
            (_, method, _) ->
                switch (method.getName()) {
                  case "test" -> left.size() > 1 ? left.remove() : left.element();
                  case "label" -> "communicator 7";
                  case "progress" -> 0;
                  case "failure" -> failure;
                  default -> throw new AssertionError(method);
                });
  }

  @Test
  void givesTheLengthOnceDone() {
    assertEquals(
        42, await.request(comm(Optional.empty(), -1L, -1L, 42L), 9, Duration.ofNanos(100)));
    assertEquals(0, await.request(comm(Optional.empty(), 0L), 9, Duration.ZERO));
  }

  @Test
  void givesUpAtTheBoundEvenAcrossTheClocksWrap() {
    TransportException late =
        assertThrows(
            TransportException.class,
            () -> await.request(comm(Optional.empty(), -1L), 9, Duration.ofNanos(50)));
    assertEquals(FailureCause.TIMED_OUT, late.failure().cause());
    assertTrue(late.getMessage().contains("communicator 7"), late.getMessage());
    assertTrue(now - Long.MAX_VALUE < 100, "looked at the clock too often: " + now);
  }

  @Test
  void tellsTheRequestsFailure() {
    Failure failure = new Failure(FailureCause.PEER_LOST, 104, "write on rail 1", "gone");
    TransportException lost =
        assertThrows(
            TransportException.class,
            () ->
                await.request(
                    comm(Optional.of(failure), FailureCause.PEER_LOST.code()),
                    9,
                    Duration.ofNanos(50)));
    assertEquals(failure, lost.failure());
    assertEquals(
        "write on rail 1: peer lost, ECONNRESET (connection reset by the peer); gone",
        lost.getMessage());
  }

  @Test
  void staleIdsAreTheCallersMistake() {
    assertThrows(
        IllegalArgumentException.class,
        () -> await.request(comm(Optional.empty(), Result.STALE_REQUEST), 9, Duration.ofNanos(50)));
  }

  /** Another thread ends it so, long before the bound. */
  @Test
  void anInterruptedThreadWaitsNoLonger() {
    Comm pending = comm(Optional.empty(), Result.IN_PROGRESS);
    Requests batch = new Requests(1);
    batch.add(pending, 9);
    Duration ever = Duration.ofNanos(Long.MAX_VALUE / 4);
    List<Executable> waits =
        List.of(
            () -> await.request(pending, 9, ever),
            () -> await.all(batch, ever),
            () -> await.any(batch, ever),
            () -> await.posted(pending, () -> Result.TRY_AGAIN, ever),
            () -> await.connection(endless(ConnectAttempt.class), ever),
            () -> await.accepted(endless(ListenComm.class), ever));
    Thread.currentThread().interrupt();
    try {
      for (Executable wait : waits) {
        TransportException ended = assertThrows(TransportException.class, wait);
        assertEquals(FailureCause.INTERRUPTED, ended.failure().cause());
        String words = String.valueOf(ended.getMessage());
        assertTrue(words.endsWith(": the waiting thread is interrupted"), words);
        assertTrue(Thread.currentThread().isInterrupted());
      }
    } finally {
      Thread.interrupted();
    }
  }

  /** It sleeps for longer than anybody would wait for it here. */
  @Test
  void anInterruptEndsASleep() throws InterruptedException {
    Duration ever = Duration.ofMinutes(10);
    Await sleeping = new Await(IdleStrategy.backoff(0, 0, ever, ever));
    AtomicReference<Throwable> ended = new AtomicReference<>();
    Thread waiting =
        Thread.ofPlatform()
            .daemon()
            .uncaughtExceptionHandler((_, thrown) -> ended.set(thrown))
            .start(() -> sleeping.request(comm(Optional.empty(), -1L), 9, ever));
    waiting.interrupt();
    assertTrue(waiting.join(Duration.ofSeconds(60)), "it sleeps on");
    assertEquals(FailureCause.INTERRUPTED, ((TransportException) ended.get()).failure().cause());
  }

  @Test
  void whatAFabricSaidIsInTheFailure() {
    FabricException refused =
        new FabricException("fi_mr_reg", FabricErrno.ENOMEM, "", "net on eth0, rail 1");
    TransportException outer =
        new TransportException(
            FailureCause.EXHAUSTED, "no room", new IllegalStateException("below", refused));
    assertEquals(
        new Failure(FailureCause.EXHAUSTED, FabricErrno.ENOMEM, "net on eth0, rail 1", "no room"),
        outer.failure());
    assertEquals("no room", outer.getMessage());
    // Who adds words to it keeps what it knew.
    assertEquals(
        FabricErrno.ENOMEM,
        new TransportException(FailureCause.EXHAUSTED, "more", outer).failure().errno());
    assertEquals(
        "timed out; in vain",
        new TransportException(FailureCause.TIMED_OUT, "in vain").failure().toString());
  }

  /** What is polled and never ready. */
  private static <T> T endless(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, _, _) -> null));
  }
}
