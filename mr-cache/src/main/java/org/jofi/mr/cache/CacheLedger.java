package org.jofi.mr.cache;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.StallEvent;
import org.jspecify.annotations.Nullable;

/**
 * The state that the cache's one lock guards: which registrations are being opened or closed, which
 * are idle, and which could not be closed. Every method but {@link #lock} and {@link #unlock} needs
 * the lock. It is held for bookkeeping only, never while a provider works.
 */
final class CacheLedger {
  private static final long BRIEFLY_NS = 1_000_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition settled = lock.newCondition();
  private final long waitNs;
  private final List<Transition> transitions = new ArrayList<>();
  private final Map<MemorySegment.Scope, WeakReference<MemorySegment.Scope>> scopes =
      new WeakHashMap<>();
  private long sequence;

  final List<CacheSpace> spaces = new ArrayList<>();
  final IdleQueue idle;

  /** Regions that a provider refused to close; closing them is tried again. */
  final List<Closing> stuck = new ArrayList<>();

  /** Once true, no space can be opened any more. */
  boolean closed;

  CacheLedger(CacheLimits limits) {
    waitNs = limits.waitNs();
    idle = new IdleQueue(limits);
  }

  void lock() {
    lock.lock();
  }

  void unlock() {
    lock.unlock();
  }

  /** A weak reference to a scope: the same each time, unless another scope is equal to it. */
  @Nullable WeakReference<MemorySegment.Scope> weakly(MemorySegment.@Nullable Scope scope) {
    if (scope == null) {
      return null;
    }
    WeakReference<MemorySegment.Scope> known = scopes.computeIfAbsent(scope, WeakReference::new);
    // Scopes of one direct buffer are equal, but each says for itself whether it is alive.
    return known.refersTo(scope) ? known : new WeakReference<>(scope);
  }

  long nextSequence() {
    return ++sequence;
  }

  void begin(Transition transition) {
    transitions.add(transition);
  }

  /** Removes a transition; if several are equal, one of them. */
  void end(Transition transition) {
    transitions.remove(transition);
    settled.signalAll();
  }

  boolean isInTransition(Predicate<Transition> which) {
    return transitions.stream().anyMatch(which);
  }

  /**
   * Waits until another thread changes something. The lock is released meanwhile.
   *
   * @param leftNs longest wait
   * @param what the caller wants to do, for error messages
   * @return how much of the wait is left
   * @throws RegistrationException if no time is left, or the thread is interrupted
   */
  @SuppressWarnings("WaitNotInLoop") // Callers loop, since they know their condition.
  long await(long leftNs, String what) {
    if (leftNs <= 0) {
      throw new RegistrationException(
          "cannot %s: other threads have been registering or closing the same memory for %d ms"
              .formatted(what, waitNs / 1_000_000),
          null);
    }
    StallEvent stall = Events.stall();
    try {
      return settled.awaitNanos(leftNs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RegistrationException(
          "cannot %s: interrupted while another thread registers or closes the same memory"
              .formatted(what),
          e);
    } finally {
      Events.waited(stall, "registration cache", what);
    }
  }

  /** As {@link #await}, for what other threads change without the lock; a millisecond at most. */
  long awaitBriefly(long leftNs, String what) {
    long slice = Math.min(leftNs, BRIEFLY_NS);
    return leftNs - slice + await(slice, what);
  }

  /** Waits until no such transition is left. */
  void awaitNone(Predicate<Transition> which, String what) {
    long leftNs = waitNs;
    while (isInTransition(which)) {
      leftNs = await(leftNs, what);
    }
  }

  /**
   * Waits for such transitions as exist now, and for no later ones. Returns false if there are
   * none.
   */
  boolean awaitThose(Predicate<Transition> which, String what) {
    List<Transition> now = transitions.stream().filter(which).toList();
    awaitNone(now::contains, what);
    return !now.isEmpty();
  }

  long waitNs() {
    return waitNs;
  }
}
