package org.jofi.cli.allreduce;

import java.util.List;

/**
 * Sums an array of float32 over all ranks, in place, as often as it is run. Its memory stays
 * registered as long as this is open. For one thread.
 */
public interface AllReduce extends AutoCloseable {
  /**
   * Sums. All ranks run it. Allocates nothing.
   *
   * @throws org.jofi.cli.ranks.RankFailure if a request fails, or nothing happens for too long
   * @throws org.jofi.ranks.RanksException if another rank is lost
   */
  void run();

  /** How the NICs access each part of its memory, as text. */
  List<String> paths();

  /**
   * Deregisters its memory.
   *
   * @throws IllegalStateException after a failure with requests in flight: NICs may still access
   *     its memory, which must not be freed
   */
  @Override
  void close();
}
