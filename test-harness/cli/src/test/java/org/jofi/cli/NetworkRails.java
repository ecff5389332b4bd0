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
        run("ip", "netns", "add", side);
        run("ip", "-n", side, "link", "set", "lo", "up");
      }
      for (int rail = 0; rail < rails; rail++) {
        String name = name(rail);
        run(
            "ip", "link", "add", name, "netns", left, "type", "veth", "peer", "name", name, "netns",
            right);
        run("ip", "-n", left, "addr", "add", address(rail) + "/24", "dev", name);
        run("ip", "-n", right, "addr", "add", "10.77.%d.2/24".formatted(rail), "dev", name);
        for (String side : List.of(left, right)) {
          run(
              "ip",
              "netns",
              "exec",
              side,
              "sysctl",
              "-qw",
              "net.ipv6.conf.%s.disable_ipv6=1".formatted(name));
          run("ip", "-n", side, "link", "set", name, "up", "mtu", "9000");
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
    try (NetworkRails rails = new NetworkRails(1000)) {
      return rails.rails == 1 ? Optional.empty() : Optional.of("no rails");
    } catch (IOException | IllegalStateException e) {
      return Optional.of("network namespaces with shaped links cannot be made here: " + e);
    }
  }

  /** A rail is so fast from now on, in both directions. */
  void rate(int rail, int megabits) throws IOException, InterruptedException {
    for (String side : List.of(left, right)) {
      run(
          "ip",
          "netns",
          "exec",
          side,
          "tc",
          "qdisc",
          "replace",
          "dev",
          name(rail),
          "root",
          "tbf",
          "rate",
          megabits + "mbit",
          "burst",
          BURST,
          "latency",
          QUEUE);
    }
  }

  /** The kernel tells of links once a second at times, and until then nobody finds them. */
  private static void awaitUp(String side, int rail) throws IOException, InterruptedException {
    for (int tries = 0; !run("ip", "-n", side, "link", "show", name(rail)).contains("state UP"); ) {
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
    List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", side));
    command.addAll(builder.command());
    builder.command(command);
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    if (code != 0) {
      throw new IllegalStateException("%s: %s".formatted(String.join(" ", command), said.strip()));
    }
    return said;
  }

  @Override
  public void close() {
    for (String side : List.of(left, right)) {
      try {
        run("ip", "netns", "del", side);
      } catch (IOException | InterruptedException | IllegalStateException e) {
        // It may not have come to be; its links go with it.
        System.err.println(e.getMessage());
      }
    }
  }
}
