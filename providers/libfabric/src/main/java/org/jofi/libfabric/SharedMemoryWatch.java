package org.jofi.libfabric;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Frees the locks of killed processes. libfabric's shm provider guards what an endpoint has in
 * shared memory by a spin lock that every process takes, the endpoint's own for as long as it
 * copies a message. Killed then, it keeps the lock, and whoever posts to that endpoint, or polls
 * its own, spins in the library for ever.
 *
 * <p>A lock is freed if it was held without a pause for {@link #HELD_NS}, in which no command was
 * taken from the endpoint's queue or given to it, and who may hold it is dead: the process whose
 * endpoint it is or, for this process's own endpoints, any peer that was watched. So neither a long
 * backlog under one lock nor posts in close succession are taken for the dead. What the lock guards
 * stays whole: commands become visible in one step, the last.
 *
 * <p>Any thread. One daemon thread a process, while anything is watched; it looks five times a
 * second.
 */
final class SharedMemoryWatch {
  /** How long a lock must be held, in ns: longer than one command of 8 GiB is copied. */
  static final long HELD_NS = TimeUnit.SECONDS.toNanos(2);

  /** As often it must be seen held: a pause of this thread, or of the machine, shows nothing. */
  private static final int HELD_SAMPLES = 200;

  private static final SharedMemoryWatch THIS_PROCESS = new SharedMemoryWatch();
  private static final System.Logger LOG = System.getLogger(SharedMemoryWatch.class.getName());
  private static final String SCHEME = "://";
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long SAMPLE_NS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final int SELF = (int) ProcessHandle.current().pid();

  private final Map<String, Watched> watched = new HashMap<>();
  private boolean somePeerDied;
  private @Nullable Thread thread;

  private SharedMemoryWatch() {}

  /** A region and how many times it is watched. */
  private static final class Watched {
    final SharedMemoryRegion region;
    final ProcessLife owner;
    int times;

    Watched(SharedMemoryRegion region, ProcessLife owner) {
      this.region = region;
      this.owner = owner;
    }
  }

  /**
   * Watches the region of an endpoint, until {@link #leave} is called as many times.
   *
   * @param address the endpoint's, as fi_getname tells it; no region, nothing watched
   */
  static void watch(byte[] address) {
    THIS_PROCESS.add(name(address));
  }

  /** Takes one {@link #watch} of that address back. */
  static void leave(byte[] address) {
    THIS_PROCESS.remove(name(address));
  }

  private static String name(byte[] address) {
    String text = SocketAddresses.string(address);
    int scheme = text.indexOf(SCHEME);
    return scheme < 0 ? text : text.substring(scheme + SCHEME.length());
  }

  private synchronized void add(String name) {
    Watched known = watched.get(name);
    if (known == null) {
      SharedMemoryRegion region = SharedMemoryRegion.map(name);
      // A process that is not seen now, in another PID namespace, could never be told from a dead.
      ProcessLife owner = region == null ? null : ProcessLife.now(region.pid());
      if (region == null || owner == null) {
        return;
      }
      known = new Watched(region, owner);
      watched.put(name, known);
    }
    known.times++;
    if (thread == null) {
      thread = Thread.ofPlatform().daemon().name("jofi-shm-watch").start(this::run);
    }
  }

  private synchronized void remove(String name) {
    Watched known = watched.get(name);
    if (known != null && --known.times == 0) {
      watched.remove(name);
    }
  }

  private void run() {
    try {
      List<Suspect> suspects = List.of();
      for (List<Watched> all = look(); !all.isEmpty(); all = look()) {
        suspects = freeLocksOfTheDead(all, suspects);
        if (suspects.isEmpty()) {
          LockSupport.parkNanos(PAUSE_NS);
        }
      }
    } finally {
      end();
    }
  }

  /** What there is to look at; if nothing, the thread is at its end. */
  private synchronized List<Watched> look() {
    if (watched.isEmpty()) {
      somePeerDied = false;
      end();
    }
    return List.copyOf(watched.values());
  }

  private synchronized void end() {
    if (Thread.currentThread().equals(thread)) {
      thread = null;
    }
  }

  /**
   * One pass, until the next is due: frees the locks that the dead held for long enough.
   *
   * @param known the suspects of the pass before: each keeps its own time, so that what happens
   *     under one lock delays no other, and none begins anew but by its own movement
   * @return those that are left
   */
  private List<Suspect> freeLocksOfTheDead(List<Watched> all, List<Suspect> known) {
    List<Suspect> suspects = new ArrayList<>();
    boolean peerDied = somePeerDied(all);
    for (Watched each : all) {
      if (each.region.isLocked() && (each.region.pid() == SELF ? peerDied : each.owner.isOver())) {
        suspects.add(
            known.stream()
                .filter(earlier -> earlier.region.equals(each.region))
                .findFirst()
                .orElseGet(() -> new Suspect(each.region)));
      }
    }
    long begin = System.nanoTime();
    while (!suspects.isEmpty() && System.nanoTime() - begin < PAUSE_NS) {
      LockSupport.parkNanos(SAMPLE_NS);
      suspects.removeIf(Suspect::isFreeNow);
    }
    return suspects;
  }

  /** A region whose lock a dead process may hold. */
  private static final class Suspect {
    final SharedMemoryRegion region;

    /** What it was like when it was last seen to move; since when, and how often seen so. */
    private byte[] state;

    private long since;
    private int samples;

    Suspect(SharedMemoryRegion region) {
      this.region = region;
      state = region.state();
      since = System.nanoTime();
    }

    /** Looks at it once more, and frees its lock if that was held for long enough. */
    boolean isFreeNow() {
      if (!region.isLocked()) {
        return true;
      }
      byte[] now = region.state();
      long at = System.nanoTime();
      if (!Arrays.equals(state, now)) {
        state = now;
        since = at;
        samples = 0;
        return false;
      }
      if (++samples < HELD_SAMPLES || at - since < HELD_NS) {
        return false;
      }
      region.free();
      LOG.log(
          Level.WARNING,
          "shm: a process was killed while it held the lock of endpoint {0}; it is free again",
          region.name());
      return true;
    }
  }

  /** A peer that died stays one, also when its communicators are closed. */
  private synchronized boolean somePeerDied(List<Watched> all) {
    somePeerDied =
        somePeerDied
            || all.stream().anyMatch(one -> one.region.pid() != SELF && one.owner.isOver());
    return somePeerDied;
  }
}
