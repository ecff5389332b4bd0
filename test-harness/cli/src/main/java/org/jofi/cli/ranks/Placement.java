package org.jofi.cli.ranks;

import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which rank a process is, and where the bootstrap server listens.
 *
 * @param rank 0 to size - 1
 * @param size how many ranks there are
 * @param localRank its number among the ranks of its machine, from 0, if that is known; otherwise
 *     its rank
 * @param host the host of the server, which rank 0 or the process that started the ranks runs
 * @param port the server's port
 * @param origin where the placement comes from, such as {@code Slurm}
 */
public record Placement(int rank, int size, int localRank, String host, int port, String origin) {
  /** The default port of the server: none that Linux gives to clients, which are 32768 to 60999. */
  public static final int USUAL_PORT = 17_601;

  /** The origin of the rank that waits for the other. */
  public static final String LISTENS = "--listen";

  /** The origin of the rank that connects to the other. */
  public static final String CONNECTS = "--connect";

  public Placement {
    if (size < 1 || size > Frame.MAX_RANKS || rank < 0 || rank >= size) {
      throw new IllegalArgumentException(
          "%s: rank %d of %d; there are 1 to %d ranks, the first is 0"
              .formatted(origin, rank, size, Frame.MAX_RANKS));
    }
    if (localRank < 0) {
      throw new IllegalArgumentException("%s: local rank %d".formatted(origin, localRank));
    }
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("%s: port %d".formatted(origin, port));
    }
  }

  /** A placement whose local rank is its rank, or not known. */
  public Placement(int rank, int size, String host, int port, String origin) {
    this(rank, size, rank, host, port, origin);
  }

  /**
   * The placement in the environment variables, by the innermost launcher that gave one: {@link
   * RankProcesses}, torchrun, Open MPI, MVAPICH, JSM, PALS, PMI (MPICH, Intel MPI), Flux, Slurm, or
   * a script that sets {@code RANK} and {@code WORLD_SIZE}.
   *
   * @param environment variables
   * @return empty if nothing placed this process, or it is the only rank
   * @throws IllegalArgumentException if the variables make no sense, or do not say where rank 0 is
   *     or how many ranks there are, or make this process the only rank in one way and one of
   *     several in another; the message says which variable to set
   */
  public static Optional<Placement> of(Map<String, String> environment) {
    return new PlacementVariables(environment).placement();
  }

  /** Whether {@link RankProcesses} started this rank. */
  public boolean isForked() {
    return origin.equals(Launcher.JOFI.label());
  }

  /** The names of the launcher's variables, for messages. */
  public String variables() {
    return Stream.of(Launcher.values())
        .filter(launcher -> launcher.label().equals(origin))
        .findFirst()
        .map(Launcher::variables)
        .orElse(origin);
  }

  /** How the ranks are named. */
  public Roles roles() {
    return origin.equals(LISTENS) || origin.equals(CONNECTS) ? Roles.SIDES : Roles.RANKS;
  }

  /** The name of a rank, seen from this one. */
  String name(int other) {
    if (roles() == Roles.RANKS) {
      return Roles.RANKS.name(other);
    }
    return other == rank ? "this side" : "the other side (%s)".formatted(Roles.SIDES.name(other));
  }

  /** The server's address, for messages. */
  String address() {
    return (host.indexOf(':') < 0 ? "%s:%d" : "[%s]:%d").formatted(host, port);
  }

  /** The variables from which {@link #of} makes this placement. */
  Map<String, String> environment() {
    return Map.of(
        "JOFI_RANK", Integer.toString(rank),
        "JOFI_WORLD_SIZE", Integer.toString(size),
        "MASTER_ADDR", host,
        "MASTER_PORT", Integer.toString(port),
        "TORCHELASTIC_USE_AGENT_STORE", "False");
  }
}
