package org.jofi.ranks;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One rank's view of all ranks of a run: who it is, and what the ranks tell each other outside of
 * the fabric. For one thread, except for {@link #check}.
 */
public interface Ranks extends AutoCloseable {
  /** {@return the number of this rank, 0 to {@link #size} - 1} */
  int rank();

  /** {@return how many ranks there are, 1 or more} */
  int size();

  /**
   * Tells all ranks something, which each takes with {@link #told}. All ranks call this equally
   * often, and take what was told in between.
   *
   * @param mine bytes, of any length that fits (64 KiB for each of 1,024 ranks do)
   * @throws RankLostException if a rank is lost
   */
  void tell(byte[] mine);

  /**
   * {@return what each rank told, in the order of ranks; null if not all have told it yet} Never
   * blocks.
   *
   * @throws RankLostException if a rank is lost
   */
  @Nullable List<byte[]> told();

  /**
   * Tells all ranks something and waits for what all of them tell.
   *
   * @param mine as with {@link #tell}
   * @param timeout how long to wait
   * @return what each rank told, in the order of ranks
   * @throws RankLostException if a rank is lost, or did not tell anything in time
   */
  List<byte[]> gather(byte[] mine, Duration timeout);

  /**
   * Throws if a rank is lost. Any thread may call it; it costs a read of memory.
   *
   * @throws RankLostException if a rank is lost
   */
  void check();

  /**
   * Goes on without those that are lost: all ranks that are left call it, each after it learned of
   * the loss. Their order stays; the first has number 0.
   *
   * @param timeout how long to wait for the others that are left
   * @return the ranks that are left; closing it leaves this open
   * @throws RankLostException if no further run is possible, or another one is lost meanwhile
   */
  Ranks shrink(Duration timeout);

  /**
   * Tells the other ranks that this one failed, which they see as its loss.
   *
   * @param why for their messages
   */
  void fail(String why);

  /** Leaves. The other ranks do not take that for a loss. A second call does nothing. */
  @Override
  void close();
}
