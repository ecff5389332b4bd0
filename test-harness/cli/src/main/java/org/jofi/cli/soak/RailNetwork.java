package org.jofi.cli.soak;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A network namespace for each rank, and rails between them: rail k is the interface {@code railk}
 * of every rank, and a bridge in a namespace of its own. One more bridge is for what ranks say to
 * each other outside of the fabric; it is always sound. Only root may make this. For one thread,
 * except for {@link #close}.
 */
public final class RailNetwork implements RailFaults, AutoCloseable {
  private static final String NAMES = "jofi-soak-";
  private static final String CONTROL = "control";
  private static final int MEGABITS = 1000;

  /**
   * Enough for a millisecond of a rail, since the kernel refills the bucket by its clock's tick. As
   * much passes at any speed after a pause.
   */
  private static final int BURST_KIBIBYTES = 256;

  /** Some packets. */
  private static final int LEAST_BURST_KIBIBYTES = 32;

  /** What 20 ms of a rail hold, and its burst. */
  private static final int QUEUE_KIBIBYTES = 2700;

  /** Less would lose what TCP has under way, again and again. */
  private static final int LEAST_QUEUE_KIBIBYTES = 320;

  private static final String SOUND = shape(1);
  private static final int MOST_TRIES = 500;
  private static final int REMOVALS = 3;
  private static final long TRY_MILLIS = 20;

  private static final AtomicBoolean ENDS = new AtomicBoolean();

  private final String prefix = NAMES + ProcessHandle.current().pid() + "-";
  private final String hub = prefix + "hub";
  private final int ranks;
  private final int rails;

  /** What is lost of what a rank sends over a rail, in percent. */
  private final int[][] losses;

  /**
   * Makes it.
   *
   * @throws IllegalStateException if the machine does not let it; nothing stays then
   */
  public RailNetwork(int ranks, int rails) {
    this.ranks = ranks;
    this.rails = rails;
    losses = new int[ranks][rails];
    removeOrphans();
    try {
      make("ip netns add " + hub);
      for (int rank = 0; rank < ranks; rank++) {
        make("ip netns add " + namespace(rank));
        make("ip -n %s link set lo up".formatted(namespace(rank)));
      }
      lay(CONTROL, rails);
      for (int rail = 0; rail < rails; rail++) {
        lay(name(rail), rail);
        for (int rank = 0; rank < ranks; rank++) {
          shape(rank, rail, SOUND);
        }
      }
      for (int rank = 0; rank < ranks; rank++) {
        for (int rail = 0; rail < rails; rail++) {
          awaitUp(namespace(rank), name(rail));
        }
        awaitUp(namespace(rank), CONTROL);
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Removes what is left of all when this process ends, also after SIGINT or SIGTERM. */
  public static void removeAtEnd() {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  ENDS.set(true);
                  remove(pid -> pid == ProcessHandle.current().pid());
                },
                "remove-rail-networks"));
  }

  /** Why this machine lets nobody make one; empty if it does. */
  public static String obstacle() {
    return obstacleOf(() -> new RailNetwork(1, 1).close());
  }

  /** Why a rail of this machine cannot lose packets at random; empty if it can. */
  public static String obstacleToLoss() {
    return obstacleOf(
        () -> {
          try (RailNetwork network = new RailNetwork(2, 1)) {
            network.lose(0, 0, 1);
          }
        });
  }

  private static String obstacleOf(Runnable attempt) {
    try {
      attempt.run();
      return "";
    } catch (IllegalStateException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private void lay(String name, int subnet) {
    make("ip -n %s link add %s type bridge".formatted(hub, name));
    quiet(hub, name);
    make("ip -n %s link set %s up mtu 9000".formatted(hub, name));
    for (int rank = 0; rank < ranks; rank++) {
      String port = "%s-%d".formatted(name, rank);
      String side = namespace(rank);
      make(
          "ip link add %s netns %s type veth peer name %s netns %s"
              .formatted(name, side, port, hub));
      quiet(side, name);
      quiet(hub, port);
      make("ip -n %s addr add %s/24 dev %s".formatted(side, address(subnet, rank), name));
      make("ip -n %s link set %s up mtu 9000".formatted(side, name));
      make("ip -n %s link set %s up mtu 9000 master %s".formatted(hub, port, name));
    }
  }

  /** Addresses that nobody asked for would be rails, too. */
  private static void quiet(String side, String name) {
    make(within(side) + " sysctl -qw net.ipv6.conf.%s.disable_ipv6=1".formatted(name));
  }

  /**
   * Waits until a network interface is up: the kernel tells of links once a second at times, and
   * until then nobody finds them.
   *
   * @param namespace the network namespace that it is in
   * @param name its name
   * @throws IllegalStateException if it does not come up within 10 s
   */
  public static void awaitUp(String namespace, String name) {
    String show = "ip -n %s link show %s".formatted(namespace, name);
    for (int tries = 0; !MachineCommand.run(show).contains("state UP"); tries++) {
      if (tries == MOST_TRIES) {
        throw new IllegalStateException("%s in %s does not come up".formatted(name, namespace));
      }
      try {
        TimeUnit.MILLISECONDS.sleep(TRY_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while the network comes up", e);
      }
    }
  }

  /** The words before a command line that move it to where a rank lives. */
  public List<String> moving(int rank) {
    return List.of(within(namespace(rank)).split(" "));
  }

  /** Where a rank is reached outside of the rails. */
  public String controlAddress(int rank) {
    return address(rails, rank);
  }

  /** The device that all rails are. */
  public String device() {
    return IntStream.range(0, rails).mapToObj(RailNetwork::name).collect(Collectors.joining(","));
  }

  @Override
  public void cut(int rank, int rail) {
    make("ip -n %s link set %s down".formatted(namespace(rank), name(rail)));
  }

  @Override
  public void swallow(int rank, int rail) {
    // A queueing discipline of every kernel that has any.
    shape(rank, rail, "blackhole");
  }

  @Override
  public void lose(int rank, int rail, int percent) {
    losses[rank][rail] = percent;
    dropAtOthers("-A", rank, rail, percent);
  }

  /** Where it arrives: what is dropped where it leaves, TCP knows of. */
  private void dropAtOthers(String change, int rank, int rail, int percent) {
    for (int other = 0; other < ranks; other++) {
      if (other != rank) {
        make(
            "%s iptables -w %s INPUT -i %s -s %s -m statistic --mode random --probability 0.%02d -j DROP"
                .formatted(
                    within(namespace(other)), change, name(rail), address(rail, rank), percent));
      }
    }
  }

  @Override
  public void slow(int rank, int rail, int part) {
    // Another kind first, which drops what waits: a packet that is longer than the new burst would
    // stay, with all behind it.
    shape(rank, rail, "pfifo");
    shape(rank, rail, shape(part));
  }

  @Override
  public void mend(int rank, int rail) {
    make("ip -n %s link set %s up".formatted(namespace(rank), name(rail)));
    shape(rank, rail, SOUND);
    int lost = losses[rank][rail];
    if (lost > 0) {
      losses[rank][rail] = 0;
      dropAtOthers("-D", rank, rail, lost);
    }
  }

  private void shape(int rank, int rail, String discipline) {
    make(
        within(namespace(rank))
            + " tc qdisc replace dev %s root %s".formatted(name(rail), discipline));
  }

  private static String shape(int part) {
    return "tbf rate %dkbit burst %dkb limit %dkb"
        .formatted(
            MEGABITS * 1000 / part,
            Math.max(LEAST_BURST_KIBIBYTES, BURST_KIBIBYTES / part),
            Math.max(LEAST_QUEUE_KIBIBYTES, QUEUE_KIBIBYTES / part));
  }

  private static String name(int rail) {
    return "rail" + rail;
  }

  private static String address(int subnet, int rank) {
    return "10.77.%d.%d".formatted(subnet, rank + 1);
  }

  /** The namespace of a rank, by name. */
  public String namespace(int rank) {
    return prefix + rank;
  }

  private static String within(String side) {
    return "ip netns exec " + side;
  }

  /** Removes namespaces of runs that were killed, and so could not remove them themselves. */
  private static void removeOrphans() {
    remove(pid -> ProcessHandle.of(pid).isEmpty());
  }

  private static void remove(LongPredicate ofProcess) {
    delete(
        name ->
            name.matches(NAMES + "[0-9]+-.*")
                && ofProcess.test(Long.parseLong(name.substring(NAMES.length()).split("-", 2)[0])));
  }

  /** Several threads may do so at once: as a process ends, and where its run fails for that. */
  private static void delete(Predicate<String> which) {
    IllegalStateException failure = null;
    for (int pass = 0; pass < REMOVALS; pass++) {
      List<String> left = namespaces().stream().filter(which).toList();
      if (left.isEmpty()) {
        return;
      }
      for (String name : left) {
        try {
          MachineCommand.run("ip netns del " + name);
        } catch (IllegalStateException e) {
          failure = e;
        }
      }
    }
    if (failure != null && namespaces().stream().anyMatch(which)) {
      throw failure;
    }
  }

  private static List<String> namespaces() {
    return MachineCommand.run("ip netns list").lines().map(line -> line.split(" ", 2)[0]).toList();
  }

  /** Removes what there is of it. A second call does nothing. */
  @Override
  public void close() {
    delete(name -> name.startsWith(prefix));
  }

  /** Nothing more is made once this process ends. */
  private static void make(String command) {
    if (ENDS.get()) {
      throw new IllegalStateException("this process ends");
    }
    MachineCommand.run(command);
  }
}
