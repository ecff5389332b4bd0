package org.jofi.mr.registration;

import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterType;

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

  private final CounterBlock block;

  /** Counts there. */
  public CacheCounters(CounterBlock block) {
    this.block = block;
  }

  /** Adds a batch of hits. Any thread, without locks. */
  public void hits(long more) {
    block.addAtomic(CounterType.CACHE_HITS, more);
  }

  // The methods below are called under the cache's lock.

  /** Called when a lease needs a registration. */
  public void missed() {
    block.addAtomic(CounterType.CACHE_MISSES, 1);
  }

  /** Called when a registration of this many bytes was made. */
  public void registered(long bytes) {
    block.addAtomic(CounterType.CACHE_OPEN, 1);
    block.addAtomic(CounterType.CACHE_PINNED, bytes);
  }

  /** Adds time that was spent in providers. */
  public void spent(long ns) {
    block.addAtomic(CounterType.CACHE_REGISTERING, ns);
  }

  /** Called when a registration was evicted. */
  public void evicted() {
    block.addAtomic(CounterType.CACHE_EVICTIONS, 1);
  }

  /**
   * Called when a registration of this many bytes closed.
   *
   * @param hitsOfOpenBatch its hits that are not added yet
   */
  public void closed(long bytes, long hitsOfOpenBatch) {
    block.addAtomic(CounterType.CACHE_HITS, hitsOfOpenBatch);
    block.addAtomic(CounterType.CACHE_CLOSES, 1);
    block.addAtomic(CounterType.CACHE_OPEN, -1);
    block.addAtomic(CounterType.CACHE_PINNED, -bytes);
  }

  /** Called when a provider refused to close a registration. */
  public void closeFailed() {
    block.addAtomic(CounterType.CACHE_CLOSE_FAILURES, 1);
  }

  /**
   * Returns all statistics.
   *
   * @param hitsOfOpenBatches hits that open registrations have counted and not added yet
   */
  public Snapshot snapshot(long hitsOfOpenBatches) {
    return new Snapshot(
        block.get(CounterType.CACHE_HITS) + hitsOfOpenBatches,
        block.get(CounterType.CACHE_MISSES),
        block.get(CounterType.CACHE_EVICTIONS),
        block.get(CounterType.CACHE_CLOSES),
        block.get(CounterType.CACHE_CLOSE_FAILURES),
        block.get(CounterType.CACHE_OPEN),
        block.get(CounterType.CACHE_PINNED),
        block.get(CounterType.CACHE_REGISTERING));
  }
}
