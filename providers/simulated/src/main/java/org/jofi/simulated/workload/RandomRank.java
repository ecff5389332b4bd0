package org.jofi.simulated.workload;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.simulated.Participant;
import org.jofi.simulated.Simulation;

/** A rank of the random workload: opens, runs, drains, closes. */
final class RandomRank implements Participant {
  private static final int POLLED = 8;

  private final WorkloadOptions options;
  private final Simulation simulation;
  private final Bootstrap bootstrap;
  private final int rank;
  private final Arena memory;
  private final SplittableRandom random;
  private final List<RandomTraffic> traffic = new ArrayList<>();
  private final List<Rail> rails = new ArrayList<>();
  private Bootstrap.Phase phase = Bootstrap.Phase.OPENING;
  private boolean published;
  private int left;

  RandomRank(
      WorkloadOptions options, Simulation simulation, Bootstrap bootstrap, int rank, Arena memory) {
    this.options = options;
    this.simulation = simulation;
    this.bootstrap = bootstrap;
    this.rank = rank;
    this.memory = memory;
    this.random = new SplittableRandom(simulation.seed() * 1_000_003 + rank);
    this.left = options.operations();
  }

  @Override
  public String name() {
    return "rank " + rank;
  }

  @Override
  public boolean isDone() {
    return phase == Bootstrap.Phase.CLOSED;
  }

  @Override
  public int step() {
    return switch (phase) {
      case OPENING -> open();
      case RUNNING -> poll() + post();
      case DRAINED -> poll() + finish();
      case CLOSED -> 0;
    };
  }

  private int open() {
    if (!published) {
      FabricProvider provider = simulation.host(rank).provider();
      List<FabricInfo> infos = provider.discover(FabricHints.any());
      for (int i = 0; i < options.rails(); i++) {
        Rail rail =
            new Rail(
                provider, infos.get(i), options.ranks(), "rank " + rank + " rail " + i, memory);
        Pattern.fill(rail.source(), sourceToken(rank, i), 0);
        bootstrap.publish(rank, i, rail.connectionInfo());
        rails.add(rail);
      }
      published = true;
      bootstrap.enter(rank, Bootstrap.Phase.RUNNING);
      return 1;
    }
    if (!bootstrap.allReached(Bootstrap.Phase.RUNNING)) {
      return 0;
    }
    int addressBytes = options.profile().negotiation().addressBytes();
    for (int i = 0; i < rails.size(); i++) {
      for (int peer = 0; peer < options.ranks(); peer++) {
        // A rank that died before it opened has no addresses; no peer gets its number.
        ConnectionInfo peerInfo = bootstrap.connectionInfo(peer, i);
        rails
            .get(i)
            .insert(peerInfo == null ? new byte[addressBytes] : peerInfo.address().get(), peer);
      }
      traffic.add(new RandomTraffic(options, bootstrap, rank, i, rails.get(i), random.split()));
    }
    phase = Bootstrap.Phase.RUNNING;
    return 1;
  }

  private int poll() {
    int polled = 0;
    for (int i = 0; i < traffic.size(); i++) {
      int n = rails.get(i).queue().poll(traffic.get(i), POLLED);
      if (n < 0) {
        throw new IllegalStateException("poll: " + FabricErrno.name(-n));
      }
      traffic.get(i).throwFailure();
      polled += n;
    }
    return polled;
  }

  private int post() {
    int posted = 0;
    for (RandomTraffic rail : traffic) {
      posted += rail.postReceives();
    }
    int burst = random.nextInt(4);
    for (int i = 0; i < burst && left > 0; i++) {
      if (traffic.get(random.nextInt(traffic.size())).postAny()) {
        left--;
        posted++;
      }
    }
    if (left == 0 && traffic.stream().allMatch(RandomTraffic::isQuiet)) {
      phase = Bootstrap.Phase.DRAINED;
      bootstrap.enter(rank, phase);
    }
    return posted;
  }

  private int finish() {
    for (RandomTraffic rail : traffic) {
      rail.postReceives();
    }
    if (!bootstrap.allReached(Bootstrap.Phase.DRAINED) || bootstrap.missing() != null) {
      return 0;
    }
    int cancelled = 0;
    for (RandomTraffic rail : traffic) {
      cancelled += rail.cancelReceives();
    }
    if (traffic.stream().allMatch(RandomTraffic::hasNoReceives)) {
      rails.forEach(Rail::close);
      phase = Bootstrap.Phase.CLOSED;
      bootstrap.enter(rank, phase);
      return 1;
    }
    return cancelled;
  }

  @Override
  public String pending() {
    StringBuilder text = new StringBuilder(phase + ", " + left + " operations to post");
    Transmission missing = bootstrap.missing();
    if (missing != null) {
      text.append(", missing ").append(missing);
    }
    traffic.forEach(rail -> text.append(", ").append(rail));
    return text.toString();
  }

  /** The token of the pattern in a rank's source region. */
  static long sourceToken(int rank, int rail) {
    return 0x50A5CEL << 32 | (long) rank << 8 | rail;
  }
}
