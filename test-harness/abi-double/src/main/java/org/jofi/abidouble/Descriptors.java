package org.jofi.abidouble;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What regions have for fi_mr_desc: numbers that are no pointers, and that tell whose they are and
 * when they were read. Guarded by the {@link Ledger}'s monitor.
 */
final class Descriptors {
  private static final long ENABLED = 0x0D5CL << 48;
  private static final long TOO_EARLY = 0x0EA1L << 48;
  private static final long CLOSED = 0x0C10L << 48;

  private final Ledger ledger;
  private final Map<Long, RegionFid> regions = new HashMap<>();
  private long count;

  Descriptors(Ledger ledger) {
    this.ledger = ledger;
  }

  /** A number for a new region. */
  long add(RegionFid region) {
    synchronized (ledger) {
      regions.put(++count, region);
      return count;
    }
  }

  static long enabled(long number) {
    return ENABLED | number;
  }

  /** What is read for a descriptor before the region is enabled. */
  static long tooEarly(long number) {
    return TOO_EARLY | number;
  }

  /** What is read for a descriptor after the region was closed. */
  static long closed(long number) {
    return CLOSED | number;
  }

  static boolean isTooEarly(long descriptor) {
    return tag(descriptor) == TOO_EARLY;
  }

  /** Whose it is, whenever it was read; null if it is no descriptor. */
  @Nullable RegionFid region(long descriptor) {
    long tag = tag(descriptor);
    synchronized (ledger) {
      return tag == ENABLED || tag == TOO_EARLY || tag == CLOSED
          ? regions.get(descriptor & ~tag)
          : null;
    }
  }

  private static long tag(long descriptor) {
    return descriptor & 0xFFFFL << 48;
  }
}
