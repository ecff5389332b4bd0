package org.jofi.rdma.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jofi.rdma.spi.ProgressExecutor;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EndpointLockTest {
  private static final Duration CLOSE = Duration.ofMillis(700);

  private final List<String> calls = new ArrayList<>();
  private ProgressExecutor.@Nullable Rounds rounds;
  private int events;
  private boolean busy;
  private boolean resting;
  private boolean stuck;
  private long now;
  private long longOperations;
  private final List<Boolean> afterwards = new ArrayList<>();
  private boolean due;
  private final EndpointLock lock =
      new EndpointLock(
          "lo",
          CLOSE,
          () -> now,
          new After(),
          (_, everyRound, _, closeNs) -> {
            rounds = everyRound;
            assertEquals(CLOSE.toNanos(), closeNs);
            return new Busy();
          },
          () -> events,
          () -> longOperations);
  private final EndpointLock.Tester tester = new EndpointLock.Tester();

  /** Notes whether the lock is held as it runs. */
  private final class After implements EndpointLock.Afterwards {
    @Override
    public boolean isDue() {
      return due;
    }

    @Override
    public void run() {
      afterwards.add(lock.isMine());
    }

    @Override
    public void betweenRounds() {
      throw new AssertionError("there is no progress thread");
    }
  }

  /** A progress thread that says what it is told to, and keeps what it is asked. */
  private final class Busy implements ProgressExecutor {
    @Override
    public void ask() {
      assertFalse(lock.isMine());
      calls.add("ask");
    }

    @Override
    public void announce() {
      assertFalse(lock.isMine());
      calls.add("announce");
    }

    @Override
    public boolean announceUnlessBusy() {
      calls.add("unless busy");
      return !busy;
    }

    @Override
    public boolean announceWithin(long boundNs) {
      calls.add("within " + boundNs / 1_000_000);
      return !stuck;
    }

    @Override
    public void entered() {
      assertTrue(lock.isMine());
      calls.add("entered");
    }

    @Override
    public boolean isResting() {
      return resting;
    }

    @Override
    public void close() {
      calls.add("close");
    }
  }

  private int round() {
    ProgressExecutor.Rounds all = rounds;
    assertNotNull(all);
    all.enter();
    try {
      assertTrue(lock.isMine());
      return all.run();
    } finally {
      all.leave();
    }
  }

  private List<String> called() {
    List<String> all = List.copyOf(calls);
    calls.clear();
    return all;
  }

  private boolean tests() {
    try (var hold = lock.testing(tester)) {
      assertEquals(hold != null, lock.isMine());
      return hold != null;
    }
  }

  private boolean looks(long request) {
    try (var hold = lock.testing(tester, request)) {
      return hold != null;
    }
  }

  /** But not for ever: what ends a request need not be an event of a round. */
  @Test
  void aRequestIsNotLookedAtAgainBeforeAnEvent() {
    assertTrue(looks(1));
    assertTrue(looks(2));
    assertFalse(looks(1));
    assertFalse(looks(2));
    assertEquals(0, round());
    assertFalse(looks(1));
    events = 1;
    assertEquals(1, round());
    assertTrue(looks(1));
    assertTrue(looks(2));
    // One that has another one's place.
    assertTrue(looks(17));
    assertTrue(looks(1));
    int skipped = 0;
    while (!looks(1)) {
      skipped++;
    }
    assertEquals(64, skipped);
  }

  /** The thread parks, so the caller makes progress. */
  @Test
  void everyTestLooksWhileTheThreadRests() {
    resting = true;
    assertTrue(looks(1));
    assertTrue(looks(1));
  }

  @Test
  void whoPostsAnnouncesItselfAndSaysThatItEntered() {
    try (var _ = lock.posting()) {
      assertEquals(List.of("announce", "entered"), called());
    }
    assertFalse(lock.isMine());
  }

  @Test
  void whoComesSeldomAsksAndIsNotCounted() {
    try (var _ = lock.rare()) {
      assertEquals(List.of("ask"), called());
      assertTrue(lock.isMine());
    }
    assertFalse(lock.isMine());
  }

  @Test
  void aTestIsSentAwayFromALongRoundButNotForEver() {
    assertTrue(tests());
    assertEquals(List.of("unless busy", "entered"), called());
    busy = true;
    assertFalse(tests());
    now += 4_999_999;
    assertFalse(tests());
    assertEquals(List.of("unless busy", "unless busy"), called());
    now += 1;
    assertTrue(tests());
    assertEquals(List.of("unless busy", "within 20", "entered"), called());
    // Its patience begins anew.
    assertFalse(tests());
    now += 5_000_000;
    stuck = true;
    assertFalse(tests());
    assertEquals(List.of("unless busy", "unless busy", "within 20"), called());
    assertFalse(lock.isMine());
  }

  @Test
  void whoFoundItFreeInBetweenHasPatienceAgain() {
    busy = true;
    assertFalse(tests());
    now += 5_000_000;
    busy = false;
    assertTrue(tests());
    busy = true;
    assertFalse(tests());
    assertEquals(List.of("unless busy", "unless busy", "entered", "unless busy"), called());
  }

  @Test
  void whoOnlyLooksDoesNotWait() {
    try (var hold = lock.unlessBusy()) {
      assertNotNull(hold);
    }
    busy = true;
    now += 10_000_000;
    try (var hold = lock.unlessBusy()) {
      assertNull(hold);
    }
  }

  @Test
  void aCloseWaitsForTheCloseTimeoutOnceAndHardlyAfterwards() {
    stuck = true;
    TransportException late = assertThrows(TransportException.class, lock::closing);
    assertEquals(FailureCause.TIMED_OUT, late.failure().cause());
    assertThrows(TransportException.class, lock::closing);
    assertEquals(List.of("within 700", "within 10"), called());
    assertFalse(lock.isMine());
    stuck = false;
    try (var _ = lock.closing()) {
      assertEquals(List.of("within 10", "entered"), called());
    }
    try (var _ = lock.closing()) {
      assertEquals(List.of("within 700", "entered"), called());
    }
  }

  /** As a round that begins between the look at the last one and the lock, and does not end. */
  @Test
  void aCloseDoesNotWaitForALockThatIsNotGivenBack() throws Exception {
    AtomicLong ticking = new AtomicLong();
    EndpointLock held =
        new EndpointLock(
            "lo",
            CLOSE,
            () -> ticking.addAndGet(CLOSE.toNanos() / 10),
            new After(),
            null,
            () -> 0,
            () -> 0);
    CountDownLatch in = new CountDownLatch(1);
    CountDownLatch out = new CountDownLatch(1);
    Thread holder =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (var _ = held.rare()) {
                    in.countDown();
                    out.await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
    in.await();
    TransportException late = assertThrows(TransportException.class, held::closing);
    assertEquals(FailureCause.TIMED_OUT, late.failure().cause());
    out.countDown();
    holder.join();
    held.closing().close();
  }

  @Test
  void whatIsDueIsDoneOnceTheLockIsGivenBack() {
    lock.posting().close();
    assertEquals(List.of(), afterwards);
    due = true;
    lock.rare().close();
    assertEquals(List.of(false), afterwards);
    afterwards.clear();
    EndpointLock free = new EndpointLock("lo", CLOSE, () -> 0, new After(), null, () -> 0, () -> 0);
    try (var _ = free.rare()) {
      free.posting().close();
      assertEquals(List.of(), afterwards, "within another call");
    }
    assertEquals(1, afterwards.size());
  }

  @Test
  void withoutAProgressThreadEveryWayIsOpen() {
    EndpointLock free = new EndpointLock("lo", CLOSE, () -> 0, new After(), null, () -> 0, () -> 0);
    assertFalse(free.isDriven());
    try (var posting = free.posting();
        var testing = free.testing(tester);
        var rare = free.rare();
        var closing = free.closing()) {
      assertNotNull(testing);
      assertEquals(List.of(posting, posting), List.of(rare, closing));
    }
    free.stopProgress();
    assertEquals(List.of(), calls);
  }

  @Test
  void aThreadPaysIfThereWasSomethingLong() {
    ProgressExecutor.Rounds all = rounds;
    assertNotNull(all);
    events = 1;
    assertEquals(1, round());
    assertFalse(all.pays());
    longOperations++;
    assertTrue(all.pays());
    assertFalse(all.pays());
  }

  @Test
  void itSaysWhetherItsThreadMakesProgressAndEndsIt() {
    assertTrue(lock.isDriven());
    resting = true;
    assertFalse(lock.isDriven());
    lock.stopProgress();
    assertEquals(List.of("close"), called());
  }
}
