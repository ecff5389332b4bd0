package org.jofi.transport;

/**
 * What a device's registration cache did so far, and holds now. The numbers are exact while nobody
 * uses the device.
 *
 * @param hits uses that found their memory registered
 * @param misses uses for which it had to be registered, failed ones included
 * @param evictions registrations that were closed to stay within the {@link CacheOptions}, or
 *     because a NIC had no room for another one
 * @param registrations open now, used or kept
 * @param pinnedBytes memory in them, in bytes
 * @param registeringNanos time spent in registering, in nanoseconds
 */
public record CacheStatistics(
    long hits,
    long misses,
    long evictions,
    long registrations,
    long pinnedBytes,
    long registeringNanos) {

  /**
   * Both together.
   *
   * @param other the statistics of another cache
   * @return the sum of each number
   */
  public CacheStatistics plus(CacheStatistics other) {
    return new CacheStatistics(
        hits + other.hits,
        misses + other.misses,
        evictions + other.evictions,
        registrations + other.registrations,
        pinnedBytes + other.pinnedBytes,
        registeringNanos + other.registeringNanos);
  }

  /**
   * What happened since an earlier look; what is open is as it is now.
   *
   * @param earlier the statistics of the same cache at the earlier look
   * @return each number less the earlier one; {@link #registrations} and {@link #pinnedBytes} are
   *     as here
   */
  public CacheStatistics since(CacheStatistics earlier) {
    return new CacheStatistics(
        hits - earlier.hits,
        misses - earlier.misses,
        evictions - earlier.evictions,
        registrations,
        pinnedBytes,
        registeringNanos - earlier.registeringNanos);
  }
}
