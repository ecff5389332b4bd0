package org.jofi.mr.registration;

import java.util.concurrent.atomic.LongAdder;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;

/**
 * The cache's statistics as Agrona counters, which other threads and processes can read. Each
 * registration counts its own hits and adds them to the counter in batches, so that threads with
 * hits do not contend for one counter. The counter therefore lags by less than 64 hits per
 * registration; a reading of the statistics brings it up to date.
 *
 * <p>The counters are freed by {@link #close}.
 */
public final class CacheCounters implements AutoCloseable {
  /** Type id of the first counter; the others follow, in the order of {@link Snapshot}. */
  public static final int FIRST_TYPE_ID = 0x4d52_0001;

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

  private final LongAdder hitStripes = new LongAdder();
  private final AtomicCounter hits;
  private final AtomicCounter misses;
  private final AtomicCounter evictions;
  private final AtomicCounter closes;
  private final AtomicCounter closeFailures;
  private final AtomicCounter registrations;
  private final AtomicCounter bytesPinned;
  private final AtomicCounter registrationNs;

  /**
   * Allocates eight counters.
   *
   * @param counters where to allocate them
   * @param device the device's name in their labels
   */
  public CacheCounters(CountersManager counters, String device) {
    int type = FIRST_TYPE_ID;
    hits = counters.newCounter("mr-cache hits: " + device, type++);
    misses = counters.newCounter("mr-cache misses: " + device, type++);
    evictions = counters.newCounter("mr-cache evictions: " + device, type++);
    closes = counters.newCounter("mr-cache closes: " + device, type++);
    closeFailures = counters.newCounter("mr-cache close failures: " + device, type++);
    registrations = counters.newCounter("mr-cache registrations: " + device, type++);
    bytesPinned = counters.newCounter("mr-cache bytes pinned: " + device, type++);
    registrationNs = counters.newCounter("mr-cache ns in registration: " + device, type);
  }

  /** Adds a batch of hits. Any thread, without locks. */
  public void hits(long more) {
    hitStripes.add(more);
  }

  // The methods below are called under the cache's lock.

  /** Called when a lease needs a registration. */
  public void missed() {
    misses.increment();
    publish();
  }

  /** Called when a registration of this many bytes was made. */
  public void registered(long bytes) {
    registrations.increment();
    bytesPinned.getAndAdd(bytes);
  }

  /** Adds time that was spent in providers. */
  public void spent(long ns) {
    registrationNs.getAndAdd(ns);
  }

  /** Called when a registration was evicted. */
  public void evicted() {
    evictions.increment();
  }

  /**
   * Called when a registration of this many bytes closed.
   *
   * @param hitsOfOpenBatch its hits that are not added to the counter yet
   */
  public void closed(long bytes, long hitsOfOpenBatch) {
    hitStripes.add(hitsOfOpenBatch);
    closes.increment();
    registrations.decrement();
    bytesPinned.getAndAdd(-bytes);
    publish();
  }

  /** Called when a provider refused to close a registration. */
  public void closeFailed() {
    closeFailures.increment();
  }

  private void publish() {
    hits.proposeMax(hitStripes.sum());
  }

  /**
   * Brings the counter of hits up to date, and returns all statistics.
   *
   * @param hitsOfOpenBatches hits that open registrations have counted and not added to the counter
   *     yet
   */
  public Snapshot snapshot(long hitsOfOpenBatches) {
    long allHits = hitStripes.sum() + hitsOfOpenBatches;
    hits.proposeMax(allHits);
    return new Snapshot(
        allHits,
        misses.get(),
        evictions.get(),
        closes.get(),
        closeFailures.get(),
        registrations.get(),
        bytesPinned.get(),
        registrationNs.get());
  }

  /** Frees the counters; a second call does nothing. Only after the cache was closed. */
  @Override
  public void close() {
    hits.close();
    misses.close();
    evictions.close();
    closes.close();
    closeFailures.close();
    registrations.close();
    bytesPinned.close();
    registrationNs.close();
  }
}
