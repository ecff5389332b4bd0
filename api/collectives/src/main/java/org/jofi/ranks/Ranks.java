package org.jofi.ranks;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One rank's view of all ranks of a run: who it is, and what the ranks tell each other outside of
 * the fabric. For one thread, except for {@link #check}, {@link #fail} and {@link #close}.
 *
 * <p>A rank whose process ends is lost at once, one whose machine is gone within 30 s; all others
 * learn that, and which one it was. They may {@linkplain #shrink go on without it}.
 */
public interface Ranks extends AutoCloseable {
  /**
   * Joins the run and waits until all its ranks have, with {@link JoinOptions#defaults}.
   *
   * @param placement which rank this is, and where they meet
   * @param patience how long it may take until all have joined
   * @return the ranks, to be closed
   * @throws RankTimeoutException if there is no server in time, or another rank did not come
   * @throws RankLostException if another rank is lost already
   * @throws RanksException if the server refuses this rank, or cannot be opened
   */
  static Ranks join(Placement placement, Duration patience) {
    return join(placement, JoinOptions.defaults(), patience);
  }

  /**
   * Joins the run and waits until all its ranks have. Rank 0's process opens the server that they
   * meet at, unless the options or the placement say that somebody else does; when that process
   * ends, all have lost the others.
   *
   * @param placement which rank this is, and where they meet
   * @param options secret, parameters and names
   * @param patience how long it may take until all have joined
   * @return the ranks, to be closed
   * @throws RankTimeoutException if there is no server in time, or another rank did not come
   * @throws RankLostException if another rank is lost already
   * @throws RanksException if the server refuses this rank, or cannot be opened
   */
  static Ranks join(Placement placement, JoinOptions options, Duration patience) {
    return Bootstrap.join(placement, options, patience);
  }

  /**
   * Ranks that are threads of this process, without sockets: for a fabric within a process, and for
   * tests. Nobody notices that a thread ends; one that fails calls {@link #fail}.
   *
   * @param size how many, 1 to 1,024
   * @return one for each rank, in their order, each for a thread of its own
   * @throws IllegalArgumentException if there cannot be so many
   */
  static List<Ranks> threads(int size) {
    return Bootstrap.threads(size);
  }

  /** {@return the number of this rank, 0 to {@link #size} - 1} */
  int rank();

  /** {@return how many ranks there are, 1 or more} */
  int size();

  /**
   * {@return the number of this rank among those of its machine, from 0, if its placement says so;
   * otherwise its first number} It stays the same when ranks go on without others.
   */
  default int localRank() {
    return rank();
  }

  /**
   * The name of a rank in this one's messages.
   *
   * @param other its number
   * @return such as {@code rank 3}
   */
  default String name(int other) {
    return "rank " + other;
  }

  /** {@return the name of this rank in its own messages} */
  default String name() {
    return name(rank());
  }

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
   * @throws RankLostException if a rank is lost
   * @throws RankTimeoutException if a rank did not tell anything in time; what all told may be
   *     taken later, with {@link #told}, before anything else is told
   */
  List<byte[]> gather(byte[] mine, Duration timeout);

  /**
   * Waits until all ranks have called this.
   *
   * @param timeout how long to wait
   * @throws RankLostException if a rank is lost
   * @throws RankTimeoutException if a rank did not call this in time
   */
  default void barrier(Duration timeout) {
    gather(new byte[0], timeout);
  }

  /**
   * Throws if a rank is lost. Any thread may call it; it costs a read of memory.
   *
   * @throws RankLostException if a rank is lost
   */
  void check();

  /**
   * Goes on without those that are lost or have left: all ranks that are left call it, each after
   * it learned of the loss. Their order stays; the first has number 0. It may be called again after
   * a time-out, and on its result after another loss.
   *
   * @param timeout how long to wait for the others that are left
   * @return the ranks that are left; closing either leaves the run
   * @throws RankLostException if no further run is possible, since the server is gone
   * @throws RankTimeoutException if another rank that is left did not call this in time
   */
  Ranks shrink(Duration timeout);

  /** {@return small values that all ranks see; of these ranks, but with what was there before} */
  Store store();

  /**
   * Tells the other ranks that this one failed, which they see as its loss, and leaves. If it
   * serves, none can go on.
   *
   * @param why for their messages
   */
  void fail(String why);

  /**
   * Leaves. The other ranks do not take that for a loss, but fail if they wait for this one. The
   * rank that serves waits for the others to leave, 5 s at most, since without it none can go on. A
   * second call does nothing.
   */
  @Override
  void close();
}
