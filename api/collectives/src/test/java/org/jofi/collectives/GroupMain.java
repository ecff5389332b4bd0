package org.jofi.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import org.jofi.ranks.Placement;
import org.jofi.ranks.RankLostException;
import org.jofi.ranks.Ranks;
import org.jofi.transport.Device;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/**
 * A rank that is a process: it runs one operation until a rank is lost, goes on without that with
 * the next operation, and ends after the last.
 */
final class GroupMain {
  private static final int COUNT = 60_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private GroupMain() {}

  public static void main(String[] arguments) {
    List<Collective> collectives =
        List.of(
            Collective.allReduce(DataType.I32, Reduction.SUM, COUNT),
            Collective.broadcast(DataType.I32, COUNT, 0),
            Collective.allToAll(DataType.I32, COUNT / 8));
    List<String> providers = List.of(arguments[0].split("\\+", -1));
    try (Transport network = transport(providers.getFirst());
        Transport withinHost = transport(providers.getLast());
        Ranks all = Ranks.join(Placement.ofEnvironment().orElseThrow(), PATIENCE)) {
      Device device = network.devices().getFirst();
      Group group;
      if (providers.size() == 1) {
        group = Group.connect(all, device);
      } else {
        // Two ranks on each host.
        Host host = new Host("host" + all.rank() / 2);
        Levels levels = new Levels(device, withinHost.devices().getFirst(), host);
        group = Group.connect(all, levels, GroupOptions.defaults());
      }
      for (Collective collective : collectives.subList(0, Integer.parseInt(arguments[1]))) {
        group = without(group, collective);
      }
      int[] sum = {1};
      group.allReduce(sum, Reduction.SUM);
      say("left: " + sum[0]);
      group.close();
    }
  }

  private static Transport transport(String provider) {
    return Transport.open(
        TransportOptions.builder()
            .provider(provider)
            .peerTimeout(Duration.ofSeconds(10))
            .closeTimeout(Duration.ofSeconds(5))
            .build());
  }

  /** Runs an operation until a rank is lost; the group of those that are left. */
  private static Group without(Group group, Collective collective) {
    int size = group.size();
    MemorySegment input = Arena.ofAuto().allocate(4L * COUNT, 64);
    MemorySegment output = Arena.ofAuto().allocate(4L * COUNT, 64);
    for (int i = 0; i < COUNT; i++) {
      input.setAtIndex(ValueLayout.JAVA_INT, i, i);
    }
    long began = 0;
    try {
      for (long round = 0; ; round++) {
        group.run(collective, input, output);
        check(collective, size, group.rank(), output);
        if (round == 5) {
          say("in " + collective.operation().kind());
        }
        began = System.nanoTime();
      }
    } catch (RankLostException lost) {
      say("lost %d after %d s".formatted(lost.rank(), (System.nanoTime() - began) / 1_000_000_000));
      return group.shrink(PATIENCE).group();
    }
  }

  private static void check(Collective collective, int size, int rank, MemorySegment output) {
    for (int i = 0; i < COUNT / 8; i += 101) {
      int expected =
          switch (collective.operation().kind()) {
            case ALL_REDUCE -> size * i;
            case ALL_TO_ALL -> rank * (COUNT / 8) + i;
            default -> i;
          };
      int got = output.getAtIndex(ValueLayout.JAVA_INT, i);
      if (got != expected) {
        throw new AssertionError("%s: %d at %d, not %d".formatted(collective, got, i, expected));
      }
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
