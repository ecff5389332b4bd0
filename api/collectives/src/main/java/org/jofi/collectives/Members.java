package org.jofi.collectives;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jofi.ranks.RankTimeoutException;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.Store;
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
    try {
      byte[] handle = store().get(key, timeout);
      store().compareAndSet(key, handle, null);
      return handle;
    } catch (RankTimeoutException nothing) {
      return null;
    }
  }

  private String handleKey(int from, int to) {
    return "%s/connect/%d/%d".formatted(name, from, to);
  }

  /** Says what this rank waits in. */
  void tell(String what) {
    store().set(waitKey(rank), what.getBytes(StandardCharsets.UTF_8));
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
