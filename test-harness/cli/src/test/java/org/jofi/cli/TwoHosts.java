package org.jofi.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jofi.cli.soak.MachineCommand;
import org.jofi.cli.soak.RailNetwork;

/**
 * Two network namespaces as hosts whose interfaces a test makes: {@code control}, over which they
 * find each other, is there already.
 */
final class TwoHosts implements AutoCloseable {
  /** Of the second one, over which the first finds it. */
  static final String MEETING = "10.90.0.2";

  private static final long BOUND_SECONDS = 60;

  private final String[] names = new String[2];
  private final List<Process> processes = new ArrayList<>();

  TwoHosts() {
    for (int host = 0; host < 2; host++) {
      names[host] = "jofi-host-%d-%d".formatted(ProcessHandle.current().pid(), host);
      MachineCommand.run("ip netns add " + names[host]);
      // Addresses of IPv6 are used at once, and not when others were asked for them.
      run(host, "sysctl -qw net.ipv6.conf.default.accept_dad=0");
      run(host, "ip link set lo up");
    }
    pair("control");
    address("control", "10.90.0.1/24", MEETING + "/24");
  }

  /** Runs a command inside. */
  void run(int host, String command) {
    MachineCommand.run("ip netns exec %s %s".formatted(names[host], command));
  }

  /** A cable with an interface of this name at both ends. */
  void pair(String name) {
    MachineCommand.run(
        "ip -n %s link add %s type veth peer name %s netns %s"
            .formatted(names[0], name, name, names[1]));
    run(0, "ip link set %s up".formatted(name));
    run(1, "ip link set %s up".formatted(name));
    RailNetwork.awaitUp(names[0], name);
    RailNetwork.awaitUp(names[1], name);
  }

  /** Gives both ends of a cable their addresses. */
  void address(String name, String one, String other) {
    run(0, "ip addr add %s dev %s".formatted(one, name));
    run(1, "ip addr add %s dev %s".formatted(other, name));
  }

  /** A host gets nothing over an interface that is longer than a tunnel on the way would take. */
  void dropsLongPackets(int host, String name) {
    run(host, "iptables -w -A INPUT -i %s -m length --length 1401:65535 -j DROP".formatted(name));
  }

  /** A bridge of containers, which has the same address on each host, and one container. */
  void docker(int host) {
    run(host, "ip link add docker0 type bridge");
    run(host, "ip addr add 172.17.0.1/16 dev docker0");
    run(host, "ip link add inside type veth peer name outside");
    run(host, "ip link set outside master docker0");
    for (String name : List.of("outside", "inside", "docker0")) {
      run(host, "ip link set %s up".formatted(name));
    }
    RailNetwork.awaitUp(names[host], "docker0");
  }

  /**
   * {@code jofi perf} between both.
   *
   * @return what both said, first the one that listens, which is on the second host
   */
  List<CommandProcess.Outcome> perf(Path folder, List<String> listening, List<String> connecting)
      throws Exception {
    start(1, folder, Map.of(), perf(listening, "--listen"));
    start(0, folder, Map.of(), perf(connecting, "--connect", MEETING));
    return said(folder);
  }

  private static List<String> perf(List<String> options, String... meeting) {
    List<String> arguments = new ArrayList<>(List.of("perf", "-n", "20", "--prepare=0", "--json"));
    arguments.addAll(options);
    if (!options.contains("-b")) {
      arguments.addAll(List.of("-b", "8", "-e", "8"));
    }
    arguments.addAll(List.of(meeting));
    return arguments;
  }

  /**
   * Ranks of a command, placed as a script does it.
   *
   * @param hosts of each rank its host; the first is on the second host
   * @return what each said
   */
  List<CommandProcess.Outcome> ranks(Path folder, List<Integer> hosts, List<String> arguments)
      throws Exception {
    for (int rank = 0; rank < hosts.size(); rank++) {
      Map<String, String> placed =
          Map.of(
              "RANK",
              "" + rank,
              "WORLD_SIZE",
              "" + hosts.size(),
              "MASTER_ADDR",
              MEETING,
              "MASTER_PORT",
              "17601");
      start(hosts.get(rank), folder, placed, arguments);
    }
    return said(folder);
  }

  private List<CommandProcess.Outcome> said(Path folder) throws Exception {
    List<CommandProcess.Outcome> said = new ArrayList<>();
    for (int side = 0; side < processes.size(); side++) {
      Process process = processes.get(side);
      if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("it hangs: " + Files.readString(folder.resolve(side + ".err")));
      }
      said.add(
          new CommandProcess.Outcome(
              process.exitValue(),
              Files.readString(folder.resolve(side + ".out")),
              Files.readString(folder.resolve(side + ".err"))));
    }
    return said;
  }

  private void start(int host, Path folder, Map<String, String> environment, List<String> arguments)
      throws IOException {
    ProcessBuilder builder = CommandProcess.builder(environment, arguments.toArray(String[]::new));
    List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", names[host]));
    command.addAll(builder.command());
    int side = processes.size();
    processes.add(
        builder
            .command(command)
            .redirectOutput(folder.resolve(side + ".out").toFile())
            .redirectError(folder.resolve(side + ".err").toFile())
            .start());
  }

  @Override
  public void close() {
    processes.forEach(Process::destroyForcibly);
    for (String name : names) {
      MachineCommand.run("ip netns del " + name);
    }
  }
}
