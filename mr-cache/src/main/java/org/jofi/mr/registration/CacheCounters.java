package org.jofi.mr.registration;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The cache's statistics. Each registration counts its own hits and adds them here in batches, so
 * that threads with hits do not contend for one counter; a reading of the statistics adds what the
 * open batches have.
 */
public final class CacheCounters {
  /**
   * The statistics at one time.
   *
   * @param hits leases that needed no registration, including those that waited for another thread
   *     to register
   * @param misses leases that needed a registration, failed ones included
   * @param evictions idle registrations closed to make room
   * @param closes registrations closed, for any reason
   * @param closeFailures how often a provider refused to close a registration
   * @param registrations registrations open now, leased or idle
   * @param bytesPinned bytes of memory in them; memory in two of them counts twice
   * @param registrationNs time spent in providers for registering, in nanoseconds
   */
  public record Snapshot(
      long hits,
      long misses,
      long evictions,
      long closes,
      long closeFailures,
      long registrations,
      long bytesPinned,
      long registrationNs) {}

  private final LongAdder hits = new LongAdder();
  private final AtomicLong misses = new AtomicLong();
  private final AtomicLong evictions = new AtomicLong();
  private final AtomicLong closes = new AtomicLong();
  private final AtomicLong closeFailures = new AtomicLong();
  private final AtomicLong registrations = new AtomicLong();
  private final AtomicLong bytesPinned = new AtomicLong();
  private final AtomicLong registrationNs = new AtomicLong();

  /** Adds a batch of hits. Any thread, without locks. */
  public void hits(long more) {
    hits.add(more);
  }

  // The methods below are called under the cache's lock.

  /** Called when a lease needs a registration. */
  public void missed() {
    misses.incrementAndGet();
  }

  /** Called when a registration of this many bytes was made. */
  public void registered(long bytes) {
    registrations.incrementAndGet();
    bytesPinned.addAndGet(bytes);
  }

  /** Adds time that was spent in providers. */
  public void spent(long ns) {
    registrationNs.addAndGet(ns);
  }

  /** Called when a registration was evicted. */
  public void evicted() {
    evictions.incrementAndGet();
  }

  /**
   * Called when a registration of this many bytes closed.
   *
   * @param hitsOfOpenBatch its hits that are not added yet
   */
  public void closed(long bytes, long hitsOfOpenBatch) {
    hits.add(hitsOfOpenBatch);
    closes.incrementAndGet();
    registrations.decrementAndGet();
    bytesPinned.addAndGet(-bytes);
  }

  /** Called when a provider refused to close a registration. */
  public void closeFailed() {
    closeFailures.incrementAndGet();
  }

  /**
   * Returns all statistics.
   *
   * @param hitsOfOpenBatches hits that open registrations have counted and not added yet
   */
  public Snapshot snapshot(long hitsOfOpenBatches) {
    return new Snapshot(
        hits.sum() + hitsOfOpenBatches,
        misses.get(),
        evictions.get(),
        closes.get(),
        closeFailures.get(),
        registrations.get(),
        bytesPinned.get(),
        registrationNs.get());
  }
}
