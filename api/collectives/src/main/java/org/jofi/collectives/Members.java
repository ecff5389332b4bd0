package org.jofi.collectives;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jofi.ranks.RankTimeoutException;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.ranks.Store;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * The ranks of a group, which have numbers of their own in it, and what they tell each other
 * through the store: handles to connect to, and what they wait in. For one thread.
 *
 * @param ranks all ranks of the run
 * @param world of each rank of the group, its number among all
 * @param rank this rank's number in the group
 * @param name of the group, of its own among all groups of the run
 */
record Members(Ranks ranks, List<Integer> world, int rank, String name) {
  private static final Log LOG = new Log(Log.Name.RANKS);

  int size() {
    return world.size();
  }

  /** The name of a rank for messages, which is the one that it has outside of the group. */
  String name(int member) {
    return ranks.name(world.get(member));
  }

  /** Says where a rank may connect to this one. */
  void publish(int from, byte[] handle) {
    store().set(handleKey(from, rank), handle);
  }

  /**
   * Where this rank may connect to another one, which says so once and for this rank alone; null if
   * it has not in time.
   */
  byte @Nullable [] handle(int to, Duration timeout) {
    String key = handleKey(rank, to);
    byte[] handle;
    try {
      handle = store().get(key, timeout);
    } catch (RankTimeoutException nothing) {
      return null;
    }
    store().compareAndSet(key, handle, null);
    return handle;
  }

  private String handleKey(int from, int to) {
    return "%s/connect/%d/%d".formatted(name, from, to);
  }

  /** Says what this rank waits in; leaves it out if the store has no room. */
  void tell(String what) {
    try {
      store().set(waitKey(rank), what.getBytes(StandardCharsets.UTF_8));
    } catch (IllegalStateException full) {
      LOG.log(System.Logger.Level.DEBUG, "what this rank waits in could not be told", full);
    }
  }

  /** Takes back what this rank said, when nobody asks any more. */
  void forget() {
    String key = waitKey(rank);
    try {
      store().compareAndSet(key, store().get(key, Duration.ofMillis(10)), null);
    } catch (RanksException | IllegalStateException gone) {
      LOG.log(System.Logger.Level.DEBUG, "nothing to take back from the store", gone);
    }
  }

  /** What another rank waits in, or waited in last; null if it has not waited for long yet. */
  @Nullable String told(int other, Duration timeout) {
    try {
      return new String(store().get(waitKey(other), timeout), StandardCharsets.UTF_8);
    } catch (RankTimeoutException nothing) {
      return null;
    }
  }

  private String waitKey(int of) {
    return "%s/wait/%d".formatted(name, of);
  }

  private Store store() {
    return ranks.store();
  }
}
