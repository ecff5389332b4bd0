package org.jofi.transport;

/**
 * What the registration cache of a device keeps. Registering takes microseconds to seconds, and
 * pins memory. So a registration is kept after its last use, for the next one of the same memory,
 * and closed when a budget is exceeded, least recently used first, or when its memory was freed.
 * Endpoints with {@linkplain ProgressThreads progress threads} have a cache each, and an equal
 * share of the budgets.
 *
 * @param idleRegistrations how many are kept that nobody uses; 0 keeps none
 * @param idleBytes how much memory they keep pinned, in bytes; 0 keeps none
 * @param wholeSegmentBytes a segment that is sent from or received into is registered as a whole up
 *     to this length, so that all of its parts share one registration; of a longer one, only the
 *     part that is used
 */
public record CacheOptions(int idleRegistrations, long idleBytes, long wholeSegmentBytes) {
  /** 4096 registrations, 16 GiB, and segments of up to 1 GiB as a whole. */
  public static final CacheOptions DEFAULT = new CacheOptions(4096, 16L << 30, 1L << 30);

  /**
   * Checks them.
   *
   * @throws IllegalArgumentException if one is negative
   */
  public CacheOptions {
    if (idleRegistrations < 0 || idleBytes < 0 || wholeSegmentBytes < 0) {
      throw new IllegalArgumentException(
          "the cache keeps 0 or more registrations and bytes, not %d and %d; and segments have 0"
                  .formatted(idleRegistrations, idleBytes)
              + " bytes or more, not "
              + wholeSegmentBytes);
    }
  }

  /**
   * These, with another budget of registrations.
   *
   * @param most how many registrations are kept that nobody uses; 0 keeps none
   * @return new options; all else is as here
   */
  public CacheOptions withIdleRegistrations(int most) {
    return new CacheOptions(most, idleBytes, wholeSegmentBytes);
  }

  /**
   * These, with another budget of bytes.
   *
   * @param most how much memory the registrations that nobody uses keep pinned, in bytes; 0 keeps
   *     none
   * @return new options; all else is as here
   */
  public CacheOptions withIdleBytes(long most) {
    return new CacheOptions(idleRegistrations, most, wholeSegmentBytes);
  }
}
