package org.jofi.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jofi.rdma.spi.ProgressExecutor;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ProgressThreadTest {
  private static final long CLOSE_NS = TimeUnit.SECONDS.toNanos(60);

  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicInteger rounds = new AtomicInteger();
  private final AtomicBoolean pays = new AtomicBoolean(true);

  private ProgressExecutor start(IntSupplier round) {
    return ProgressThread.start("lo of a test", new Locked(round), () -> {}, CLOSE_NS);
  }

  /** Rounds with this test's lock. */
  private final class Locked implements ProgressExecutor.Rounds {
    private final IntSupplier round;
    private int events;

    Locked(IntSupplier round) {
      this.round = round;
    }

    @Override
    public void enter() {
      while (!lock.tryLock()) {
        Thread.onSpinWait();
      }
    }

    @Override
    public int run() {
      events = round.getAsInt();
      return events;
    }

    @Override
    public boolean pays() {
      return events > 0 && pays.get();
    }

    @Override
    public void leave() {
      lock.unlock();
    }
  }

  static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static boolean runs() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("jofi lo of a test"));
  }

  @Test
  void itDrivesWithTheLockHeldUntilItIsClosed() {
    AtomicBoolean held = new AtomicBoolean(true);
    try (ProgressExecutor thread =
        start(
            () -> {
              held.set(held.get() && lock.isHeldByCurrentThread());
              return rounds.incrementAndGet() % 2;
            })) {
      await(() -> rounds.get() > 1000);
      assertFalse(thread.isResting());
      assertTrue(runs());
    }
    assertTrue(held.get());
    int last = rounds.get();
    assertFalse(runs());
    assertEquals(last, rounds.get());
  }

  @Test
  void itRestsWhenNothingHappens() {
    AtomicBoolean something = new AtomicBoolean();
    try (ProgressExecutor thread =
        start(
            () -> {
              rounds.incrementAndGet();
              return something.get() ? 1 : 0;
            })) {
      await(thread::isResting);
      something.set(true);
      int before = rounds.get();
      await(() -> rounds.get() > before + 100);
      assertFalse(thread.isResting());
    }
  }

  /** Of short messages alone, those who asked for them take better care. */
  @Test
  void itRestsWhileItDoesNotPay() {
    pays.set(false);
    try (ProgressExecutor thread =
        start(
            () -> {
              rounds.incrementAndGet();
              return 1;
            })) {
      await(thread::isResting);
      pays.set(true);
      // The round that was amid something may not know, and it may rest once more.
      int before = rounds.get();
      await(() -> rounds.get() > before + 2);
      int looks = 0;
      for (int i = 0; i < 1_000; i++) {
        Thread.onSpinWait();
        looks += thread.isResting() ? 1 : 0;
      }
      assertEquals(0, looks);
    }
  }

  /** Rounds that move data follow each other closely: others get the lock between any two. */
  @Test
  @Tag("alone")
  void whoAnnouncesItselfIsNextAndWhoAsksIsSoon() {
    try (ProgressExecutor thread =
        start(
            () -> {
              long end = System.nanoTime() + 200_000;
              await(() -> System.nanoTime() - end > 0);
              rounds.incrementAndGet();
              return 1;
            })) {
      assertTrue(medianWait(thread::announce, thread::entered) <= 2, "announced");
      assertTrue(medianWait(thread::ask, () -> {}) <= 10, "asked");
    }
  }

  /** How many rounds went by until the lock was had; now and then a thread loses its processor. */
  private int medianWait(Runnable before, Runnable once) {
    int[] waits = new int[301];
    for (int i = 0; i < waits.length; i++) {
      int from = rounds.get();
      before.run();
      lock.lock();
      try {
        once.run();
        waits[i] = rounds.get() - from;
      } finally {
        lock.unlock();
      }
    }
    Arrays.sort(waits);
    return waits[waits.length / 2];
  }

  @Test
  void aCallerIsSentAwayFromALongRoundAndLetInAfterIt() throws InterruptedException {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (ProgressExecutor thread =
        start(
            () -> {
              entered.countDown();
              awaitUninterrupted(goOn);
              return 0;
            })) {
      entered.await();
      assertFalse(thread.announceUnlessBusy());
      goOn.countDown();
      await(thread::announceUnlessBusy);
      lock.lock();
      try {
        thread.entered();
      } finally {
        lock.unlock();
      }
    }
  }

  static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void callersGoOnWhenItFails() {
    ProgressExecutor thread =
        start(
            () -> {
              throw new IllegalStateException("the provider is out of order");
            });
    await(() -> !runs());
    assertTrue(thread.isResting());
    assertTrue(thread.announceUnlessBusy());
    thread.entered();
    thread.close();
  }

  @Test
  void aRoundThatDoesNotEndIsNotWaitedForWithoutBound() {
    CountDownLatch goOn = new CountDownLatch(1);
    ProgressExecutor thread =
        ProgressThread.start(
            "lo of a test",
            new Locked(
                () -> {
                  rounds.incrementAndGet();
                  awaitUninterrupted(goOn);
                  return 0;
                }),
            () -> {},
            TimeUnit.MILLISECONDS.toNanos(100));
    await(() -> rounds.get() > 0);
    Thread.currentThread().interrupt();
    TransportException late = assertThrows(TransportException.class, thread::close);
    assertEquals(FailureCause.TIMED_OUT, late.failure().cause());
    assertTrue(Thread.interrupted(), "the interrupt is kept");
    goOn.countDown();
    await(() -> closes(thread));
    assertFalse(runs());
  }

  private static boolean closes(ProgressExecutor thread) {
    try {
      thread.close();
      return true;
    } catch (TransportException stillInside) {
      return false;
    }
  }
}
