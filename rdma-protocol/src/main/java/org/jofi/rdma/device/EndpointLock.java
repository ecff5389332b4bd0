package org.jofi.rdma.device;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.jofi.rdma.spi.ProgressExecutor;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.StallEvent;
import org.jspecify.annotations.Nullable;

/**
 * The lock of an endpoint and of everything over it, with the endpoint's progress thread if it has
 * one. The thread holds the lock most of the time, so each kind of call has its own way in. A way
 * in returns a {@link Hold}, which the same thread closes; a thread that holds the lock may enter
 * again. Any thread. Nothing is allocated, unless another thread holds the lock for so long that
 * this one has to park.
 */
public final class EndpointLock {
  /** The wait for a thread that has already been found stuck. */
  private static final long STUCK_NS = 10_000_000;

  /** A thread that tests all the time has found the end of a round long before this. */
  private static final long REFUSED_NS = 5_000_000;

  /** The longest wait of a test, since a round may never end. */
  private static final long WAIT_NS = 20_000_000;

  /** Tries in a row; others hold the lock for less, mostly. */
  private static final int TRIES = 1_000;

  /** Tries with other threads run in between, before it parks, which would allocate. */
  private static final int PAUSES = 20_000;

  /** Tries of the progress thread, before it parks. */
  private static final int SPINS = 2_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Hold hold = new Hold();
  private final String label;
  private final Duration closeTimeout;
  private final NanoClock clock;
  private final Afterwards afterwards;
  private final @Nullable ProgressExecutor executor;
  // Whether a close has waited in vain.
  private volatile boolean stuck;
  // How many rounds of the progress thread had events.
  private final AtomicLong eventful = new AtomicLong();

  /** What whoever gives the lock back does without it, such as calls that may take long. */
  interface Afterwards {
    boolean isDue();

    /** Does it. Without the lock. */
    void run();

    /** What of it does not take long. By the progress thread, without the lock. */
    void betweenRounds();
  }

  /** A lock that is held; closing it gives it back. */
  public final class Hold implements AutoCloseable {
    private Hold() {}

    @Override
    public void close() {
      lock.unlock();
      if (afterwards.isDue() && !isMine()) {
        afterwards.run();
      }
    }
  }

  /** Who tests requests, one thread at a time; remembers what it looked at last. */
  public static final class Tester {
    private static final int REMEMBERED = 16;

    /**
     * How many tests in a row may skip the look. What ends a request without an event of a round
     * (its time limit, a call of another thread) is seen after so many.
     */
    private static final int MOST_SKIPPED = 64;

    private final long[] requests = new long[REMEMBERED];
    private final long[] looks = new long[REMEMBERED];
    private int skipped;
    private boolean refused;
    private long refusedSinceNs;

    public Tester() {}

    /** Whether nothing happened since the request was looked at. */
    private boolean skips(long request, long eventful) {
      int at = (int) request & REMEMBERED - 1;
      if (requests[at] != request || looks[at] != eventful || skipped == MOST_SKIPPED) {
        return false;
      }
      skipped++;
      return true;
    }

    private void looks(long request, long eventful) {
      int at = (int) request & REMEMBERED - 1;
      requests[at] = request;
      looks[at] = eventful;
      skipped = 0;
    }
  }

  /**
   * @param closeTimeout how long a close waits for a round to end
   * @param starter starts a progress thread, which begins at once; null for none
   * @param round polls the endpoint once, with the lock held
   * @param longOperations how many there were for which a progress thread pays; with the lock held
   * @throws TransportException with {@code EXHAUSTED} if there is no thread for it
   */
  EndpointLock(
      String label,
      Duration closeTimeout,
      NanoClock clock,
      Afterwards afterwards,
      ProgressExecutor.@Nullable Starter starter,
      IntSupplier round,
      LongSupplier longOperations) {
    this.label = label;
    this.closeTimeout = closeTimeout;
    this.clock = clock;
    this.afterwards = afterwards;
    executor =
        starter == null
            ? null
            : starter.start(
                label,
                new Rounds(round, longOperations),
                afterwards::betweenRounds,
                closeTimeout.toNanos());
  }

  private final class Rounds implements ProgressExecutor.Rounds {
    private final IntSupplier round;
    private final LongSupplier longOperations;
    private long seen;

    Rounds(IntSupplier round, LongSupplier longOperations) {
      this.round = round;
      this.longOperations = longOperations;
    }

    /** Spins first: parking would cost more than what most calls do with the lock held. */
    @Override
    public void enter() {
      for (int i = 0; i < SPINS; i++) {
        if (lock.tryLock()) {
          return;
        }
        BusySpinIdleStrategy.INSTANCE.idle();
      }
      lock.lock();
    }

    @Override
    public int run() {
      int events = round.getAsInt();
      if (events > 0) {
        // By the holder of the lock alone.
        eventful.setRelease(eventful.getPlain() + 1);
      }
      return events;
    }

    @Override
    public boolean pays() {
      long now = longOperations.getAsLong();
      boolean more = now != seen;
      seen = now;
      return more;
    }

    @Override
    public void leave() {
      lock.unlock();
    }
  }

  boolean isMine() {
    return lock.isHeldByCurrentThread();
  }

  /** For calls per message, and others that are to be quick: the progress thread lets it by. */
  public Hold posting() {
    if (executor != null) {
      executor.announce();
    } else if (lock.tryLock()) {
      return hold;
    }
    return enterAnnounced();
  }

  /**
   * For the test of a request, which is in progress as far as the caller knows. While a progress
   * thread drives the endpoint, a request that was looked at and for which nothing happened since
   * is not looked at again: the lock would cost both threads more than the look.
   *
   * @param request its id
   * @return null if the lock was not taken: the request is in progress
   */
  public @Nullable Hold testing(Tester tester, long request) {
    if (isDriven() && tester.skips(request, eventful.getAcquire())) {
      return null;
    }
    Hold taken = testing(tester);
    if (taken != null) {
      tester.looks(request, eventful.getPlain());
    }
    return taken;
  }

  /**
   * For tests of requests. While the progress thread is copying data, it returns without the lock;
   * but if the tester has found it so for a while, it waits for the end of the round, up to a time
   * limit.
   *
   * @return null if the lock was not taken
   */
  public @Nullable Hold testing(Tester tester) {
    if (executor == null || executor.announceUnlessBusy()) {
      tester.refused = false;
      return enterAnnounced();
    }
    long now = clock.nanoTime();
    if (!tester.refused) {
      tester.refused = true;
      tester.refusedSinceNs = now;
      return null;
    }
    if (now - tester.refusedSinceNs < REFUSED_NS) {
      return null;
    }
    tester.refused = false;
    return executor.announceWithin(WAIT_NS) ? enterAnnounced() : null;
  }

  /** Takes the lock unless the progress thread is copying data: null then. */
  @Nullable Hold unlessBusy() {
    return executor == null || executor.announceUnlessBusy() ? enterAnnounced() : null;
  }

  /** For rare calls: the progress thread leaves the lock free soon. */
  public Hold rare() {
    if (executor != null) {
      executor.ask();
    }
    return enter();
  }

  /**
   * For closing. It waits for a thread that is in a call of the provider, but no longer than the
   * close timeout, and hardly at all once that has passed.
   *
   * @throws TransportException with {@code TIMED_OUT}: the lock was not taken
   */
  public Hold closing() {
    long boundNs = stuck ? STUCK_NS : closeTimeout.toNanos();
    boolean announced = executor == null || executor.announceWithin(boundNs);
    // A round that begins between the two may not end, either.
    boolean in = announced && enterWithin(boundNs);
    if (executor != null && announced) {
      executor.entered();
    }
    stuck = !in;
    if (stuck) {
      throw new TransportException(
          FailureCause.TIMED_OUT,
          "%s: another thread has been in the provider for %s: it stays open, close it again"
              .formatted(label, closeTimeout));
    }
    return hold;
  }

  /** Not by parking, which an interrupt would end. */
  private boolean enterWithin(long boundNs) {
    long deadline = clock.nanoTime() + boundNs;
    while (!spin()) {
      if (clock.nanoTime() - deadline >= 0) {
        return false;
      }
    }
    return true;
  }

  private Hold enterAnnounced() {
    enter();
    if (executor != null) {
      executor.entered();
    }
    return hold;
  }

  private Hold enter() {
    if (!spin()) {
      StallEvent stall = Events.stall();
      lock.lock();
      Events.waited(stall, label, "another thread, which uses the endpoint");
    }
    return hold;
  }

  /** Takes the lock if it becomes free soon; whether it did. */
  private boolean spin() {
    for (int i = 0; i < TRIES; i++) {
      if (lock.tryLock()) {
        return true;
      }
    }
    // Threads that poll hold the lock nearly all the time: one that parked would seldom find it
    // free.
    for (int i = 0; i < PAUSES; i++) {
      YieldingIdleStrategy.INSTANCE.idle();
      if (lock.tryLock()) {
        return true;
      }
    }
    return false;
  }

  /** Whether a progress thread makes progress now. With or without the lock. */
  public boolean isDriven() {
    return executor != null && !executor.isResting();
  }

  /**
   * Ends the progress thread, if there is one. Without the lock.
   *
   * @throws TransportException with {@code TIMED_OUT} if its round does not end
   */
  void stopProgress() {
    if (executor != null) {
      executor.close();
    }
  }
}
