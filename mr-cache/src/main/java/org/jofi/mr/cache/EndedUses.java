package org.jofi.mr.cache;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Registrations whose last use has ended. Uses end in the middle of completions, with the lock of
 * an endpoint held, where a provider that takes long to close a region would hold up everything. So
 * they are only listed, and looked at by whoever has given such a lock back. Any thread.
 */
final class EndedUses {
  private final Queue<CachedRegistration> ended = new ConcurrentLinkedQueue<>();
  private final ReentrantLock settling = new ReentrantLock();

  /** Those listed and those being looked at. */
  private final AtomicInteger unsettled = new AtomicInteger();

  /** Whether there is nothing to look at, and nobody is looking. */
  boolean isEmpty() {
    return unsettled.get() == 0;
  }

  /** Lists one, which may happen several times. */
  void add(CachedRegistration registration) {
    unsettled.incrementAndGet();
    ended.add(registration);
  }

  /**
   * Takes all that are listed. If another thread is at it, waits for that: what was listed before
   * the call has been looked at after it.
   */
  void settle(Consumer<CachedRegistration> look) {
    settling.lock();
    try {
      for (CachedRegistration next = ended.poll(); next != null; next = ended.poll()) {
        try {
          look.accept(next);
        } finally {
          unsettled.decrementAndGet();
        }
      }
    } finally {
      settling.unlock();
    }
  }
}
