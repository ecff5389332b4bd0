package org.jofi.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Two network namespaces, and rails of given rates between them, for tests of what rails do that
 * differ. Only root may make them.
 */
final class NetworkRails implements AutoCloseable {
  private static final String BURST = "256kb";
  private static final String QUEUE = "20ms";
  private static final int MOST_TRIES = 500;

  private final String left = "jofi-left-" + ProcessHandle.current().pid();
  private final String right = "jofi-right-" + ProcessHandle.current().pid();
  private final int rails;

  /** Rails of so many megabits per second each. */
  NetworkRails(int... megabits) throws IOException, InterruptedException {
    rails = megabits.length;
    try {
      for (String side : List.of(left, right)) {
        run("ip netns add " + side);
        run("ip -n %s link set lo up".formatted(side));
      }
      for (int rail = 0; rail < rails; rail++) {
        String name = name(rail);
        run(
            "ip link add %s netns %s type veth peer name %s netns %s"
                .formatted(name, left, name, right));
        run("ip -n %s addr add %s/24 dev %s".formatted(left, address(rail), name));
        run("ip -n %s addr add 10.77.%d.2/24 dev %s".formatted(right, rail, name));
        for (String side : List.of(left, right)) {
          run(within(side) + " sysctl -qw net.ipv6.conf.%s.disable_ipv6=1".formatted(name));
          run("ip -n %s link set %s up mtu 9000".formatted(side, name));
        }
        rate(rail, megabits[rail]);
      }
      for (int rail = 0; rail < rails; rail++) {
        awaitUp(left, rail);
        awaitUp(right, rail);
      }
    } catch (IOException | InterruptedException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Why this machine has none; empty if it has. */
  static Optional<String> obstacle() throws InterruptedException {
    try (var _ = new NetworkRails(1000)) {
      return Optional.empty();
    } catch (IOException | IllegalStateException e) {
      return Optional.of("network namespaces with shaped links cannot be made here: " + e);
    }
  }

  /** A rail is so fast from now on, in both directions. */
  void rate(int rail, int megabits) throws IOException, InterruptedException {
    for (String side : List.of(left, right)) {
      run(
          within(side)
              + " tc qdisc replace dev %s root tbf rate %dmbit burst %s latency %s"
                  .formatted(name(rail), megabits, BURST, QUEUE));
    }
  }

  /** Bytes that a rail carried until now, in both directions. */
  long carried(int rail) throws IOException, InterruptedException {
    long sum = 0;
    for (String way : List.of("rx", "tx")) {
      String file = "/sys/class/net/%s/statistics/%s_bytes".formatted(name(rail), way);
      sum += Long.parseLong(run(within(left) + " cat " + file).strip());
    }
    return sum;
  }

  /** Whatever is sent over a rail is lost, and nobody is told. */
  void cut(int rail) throws IOException, InterruptedException {
    run("ip -n %s link set %s down".formatted(right, name(rail)));
  }

  /** A rail that was cut is whole again. */
  void mend(int rail) throws IOException, InterruptedException {
    run("ip -n %s link set %s up".formatted(right, name(rail)));
  }

  /** The kernel tells of links once a second at times, and until then nobody finds them. */
  private static void awaitUp(String side, int rail) throws IOException, InterruptedException {
    for (int tries = 0;
        !run("ip -n %s link show %s".formatted(side, name(rail))).contains("state UP"); ) {
      if (++tries > MOST_TRIES) {
        throw new IllegalStateException("%s of %s does not come up".formatted(name(rail), side));
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static String name(int rail) {
    return "rail" + rail;
  }

  /** Where the left side is reached over a rail. */
  static String address(int rail) {
    return "10.77.%d.1".formatted(rail);
  }

  /** The device that all rails are, for {@code --device}. */
  String device() {
    List<String> names = new ArrayList<>();
    for (int rail = 0; rail < rails; rail++) {
      names.add(name(rail));
    }
    return String.join(",", names);
  }

  /** To run there what was to run here. */
  void moveLeft(ProcessBuilder builder) {
    move(builder, left);
  }

  /** To run there what was to run here. */
  void moveRight(ProcessBuilder builder) {
    move(builder, right);
  }

  private static void move(ProcessBuilder builder, String side) {
    List<String> command = new ArrayList<>(List.of(within(side).split(" ")));
    command.addAll(builder.command());
    builder.command(command);
  }

  private static String within(String side) {
    return "ip netns exec " + side;
  }

  /** Runs a command, whose words hold no spaces; what it said. */
  private static String run(String command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command.split(" ")).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    if (code != 0) {
      throw new IllegalStateException("%s: %s".formatted(command, said.strip()));
    }
    return said;
  }

  @Override
  public void close() {
    for (String side : List.of(left, right)) {
      try {
        run("ip netns del " + side);
      } catch (IOException | InterruptedException | IllegalStateException e) {
        // It may not have come to be; its links go with it.
        System.err.println(e.getMessage());
      }
    }
  }
}
