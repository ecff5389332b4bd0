package org.jofi.libfabric;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jofi.fabric.AddressText;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * Frees locks that killed processes still hold. libfabric's shm provider guards an endpoint's
 * shared memory with a spin lock that every process takes; the owner of the endpoint holds it while
 * it copies a message. If a process is killed while it holds the lock, the lock stays taken. Then
 * every process that posts to this endpoint, or polls it, spins in the library for ever.
 *
 * <p>A lock is freed on two conditions. First, it was held without a pause for {@link #HELD_NS},
 * and meanwhile no command was taken from the endpoint's queue or added to it. Second, a process
 * that may hold it is dead: the owner of the endpoint or, for this process's own endpoints, any
 * peer that was watched. So neither a long backlog that is worked off under one lock nor many posts
 * in close succession look like a dead holder. The data that the lock guards stays consistent,
 * because a command becomes visible in one step, the last.
 *
 * <p>Any thread. Each process has one daemon thread while anything is watched; it checks five times
 * a second.
 */
final class SharedMemoryWatch {
  /** How long a lock must be held, in ns: longer than it takes to copy one command of 8 GiB. */
  static final long HELD_NS = TimeUnit.SECONDS.toNanos(2);

  /**
   * How often it must be seen held, so that a pause of this thread or of the machine does not
   * count.
   */
  private static final int HELD_SAMPLES = 200;

  private static final SharedMemoryWatch THIS_PROCESS = new SharedMemoryWatch();
  private static final Log LOG = new Log(Log.Name.PROVIDER);
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
   * @param address the endpoint's address, from fi_getname; if it has no region, nothing is watched
   */
  static void watch(byte[] address) {
    THIS_PROCESS.add(name(address));
  }

  /** Takes back one {@link #watch} of this address. */
  static void leave(byte[] address) {
    THIS_PROCESS.remove(name(address));
  }

  private static String name(byte[] address) {
    String text = AddressText.string(address);
    int scheme = text.indexOf(SCHEME);
    return scheme < 0 ? text : text.substring(scheme + SCHEME.length());
  }

  private synchronized void add(String name) {
    Watched known = watched.get(name);
    if (known == null) {
      SharedMemoryRegion region = SharedMemoryRegion.map(name);
      // A process that is not visible now, because it is in another PID namespace, could never be
      // distinguished from a dead one.
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

  /** The regions to check; if there are none, the thread ends. */
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
   * Does one pass and waits until the next is due. Frees the locks that dead processes have held
   * for long enough.
   *
   * @param known the suspects of the last pass. Each measures its own time, so that changes under
   *     one lock neither delay nor restart the time of another
   * @return the suspects that are left
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

    /**
     * Its counters when they last changed, the time of that, and how often they were seen unchanged
     * since.
     */
    private byte[] state;

    private long since;
    private int samples;

    Suspect(SharedMemoryRegion region) {
      this.region = region;
      state = region.state();
      since = System.nanoTime();
    }

    /** Checks it once more, and frees its lock if it was held for long enough. */
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
          "shm: a process was killed while it held the lock of endpoint %s; it is free again"
              .formatted(region.name()));
      return true;
    }
  }

  /** Whether a watched peer has died. It stays true after the peer's communicators are closed. */
  private synchronized boolean somePeerDied(List<Watched> all) {
    somePeerDied =
        somePeerDied
            || all.stream().anyMatch(one -> one.region.pid() != SELF && one.owner.isOver());
    return somePeerDied;
  }
}
