package org.jofi.collectives;

import java.util.List;
import org.jofi.collectives.schedule.Hosts;
import org.jofi.transport.Device;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Which device leads to each rank of a group. Both ends of a connection come to the same, since all
 * ranks know the hosts of all.
 *
 * @param network leads to ranks of other hosts
 * @param levels both devices; null if there is one for all
 * @param hosts of the ranks of the group; unknown if there is one device
 * @param rank this rank's number in the group
 */
record Routes(Device network, @Nullable Levels levels, Hosts hosts, int rank) {

  /** Of all ranks, as they told. */
  static Routes of(Device network, @Nullable Levels levels, List<Greeting> greetings, int rank) {
    Hosts hosts =
        levels == null
            ? Hosts.unknown(greetings.size())
            : Hosts.of(greetings.stream().map(Routes::host).toList());
    return new Routes(network, levels, hosts, rank);
  }

  private static String host(Greeting of) {
    Greeting.TwoLevels levels = of.levels();
    return levels == null ? "" : levels.host();
  }

  /**
   * Of some of the ranks, which are a group.
   *
   * @param chosen their numbers here, in their order there
   * @param member this rank's number there
   */
  Routes among(List<Integer> chosen, int member) {
    return new Routes(network, levels, hosts.among(chosen), member);
  }

  /** All devices. */
  List<Device> devices() {
    return levels == null ? List.of(network) : List.of(network, levels.withinHost());
  }

  /** The device that leads to another rank. */
  Device to(int other) {
    return levels != null && hosts.share(rank, other) ? levels.withinHost() : network;
  }

  /**
   * The exception for a connection that failed. Between ranks that share a host it says so, since
   * the program did not choose the device.
   */
  TransportException failed(TransportException failure, int other, String name) {
    if (levels == null || !hosts.share(rank, other)) {
      return failure;
    }
    return new TransportException(
        failure.failure().cause(),
        "%s is on the same host, over %s: %s; if the two cannot share memory, name other hosts, or use one device"
            .formatted(name, levels.withinHost().properties().provider(), failure.getMessage()),
        failure);
  }
}
