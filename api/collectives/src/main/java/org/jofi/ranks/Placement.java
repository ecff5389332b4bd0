package org.jofi.ranks;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which rank a process is, and where the ranks meet: as its launcher says in the environment, or as
 * its own program does.
 *
 * @param rank 0 to size - 1
 * @param size how many ranks there are, 1 to 1,024
 * @param localRank its number among the ranks of its machine, from 0, if that is known; otherwise
 *     its rank
 * @param host the host of the server, which rank 0 or the process that started the ranks runs
 * @param port the server's port, 1 to 65,535
 * @param origin where the placement comes from, such as {@code Slurm}, for messages
 */
public record Placement(int rank, int size, int localRank, String host, int port, String origin) {
  /** The default port of the server: none that Linux gives to clients, which are 32768 to 60999. */
  public static final int USUAL_PORT = 17_601;

  private static final String PROGRAM = "the program";

  /**
   * A placement.
   *
   * @throws IllegalArgumentException if a number is out of bounds; the message names the origin
   */
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

  /**
   * A placement whose local rank is its rank, or not known.
   *
   * @param rank 0 to size - 1
   * @param size how many ranks there are, 1 to 1,024
   * @param host the host of the server
   * @param port the server's port, 1 to 65,535
   * @param origin where the placement comes from, for messages
   * @throws IllegalArgumentException if a number is out of bounds; the message names the origin
   */
  public Placement(int rank, int size, String host, int port, String origin) {
    this(rank, size, rank, host, port, origin);
  }

  /**
   * A placement by the program itself.
   *
   * @param rank 0 to size - 1
   * @param size how many ranks there are, 1 to 1,024
   * @param host the host of rank 0
   * @param port a port there, 1 to 65,535
   * @return the placement
   * @throws IllegalArgumentException if a number is out of bounds
   */
  public static Placement of(int rank, int size, String host, int port) {
    return new Placement(rank, size, host, port, PROGRAM);
  }

  /**
   * A placement in a list of addresses, one for each rank. Rank 0's is where the ranks meet; of the
   * others only the hosts count, which tell which ranks are on one machine.
   *
   * @param addresses each a {@code HOST} or {@code HOST:PORT}, the same list for all ranks; an IPv6
   *     address with a port is {@code [ADDRESS]:PORT}. Without a port, {@link #USUAL_PORT}
   * @param rank the index of this rank
   * @return the placement
   * @throws IllegalArgumentException if that is no index, or a text no address
   */
  public static Placement of(List<String> addresses, int rank) {
    if (rank < 0 || rank >= addresses.size()) {
      throw new IllegalArgumentException(
          "%s: rank %d of %d addresses".formatted(PROGRAM, rank, addresses.size()));
    }
    List<Address> all = addresses.stream().map(text -> Address.of(text, PROGRAM)).toList();
    String mine = all.get(rank).host();
    int here = (int) all.subList(0, rank).stream().filter(one -> one.host().equals(mine)).count();
    Address first = all.getFirst();
    return new Placement(rank, all.size(), here, first.host(), first.port(), PROGRAM);
  }

  /**
   * A placement by the address of the server, as users type it.
   *
   * @param rank 0 to size - 1
   * @param size how many ranks there are, 1 to 1,024
   * @param address a {@code HOST} or {@code HOST:PORT}, as in {@link #of(List, int)}
   * @param origin where the placement comes from, for messages
   * @return the placement
   * @throws IllegalArgumentException if the text is no address; the message names the origin
   */
  public static Placement at(int rank, int size, String address, String origin) {
    Address server = Address.of(address, origin);
    return new Placement(rank, size, server.host(), server.port(), origin);
  }

  /**
   * The placement in the environment variables of this process, as {@link #of(Map)}.
   *
   * @return empty if nothing placed this process, or it is the only rank
   * @throws IllegalArgumentException if the variables make no sense
   */
  public static Optional<Placement> ofEnvironment() {
    return of(System.getenv());
  }

  /**
   * The placement in environment variables, by the innermost launcher that gave one: what set those
   * of {@link #environment}, torchrun, Open MPI, MVAPICH, JSM, PALS, PMI (MPICH, Intel MPI), Flux,
   * Slurm, or a script that sets {@code RANK} and {@code WORLD_SIZE}.
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

  /**
   * {@return whether the variables of {@link #environment} placed this rank, so that what started
   * it serves} Otherwise rank 0 does.
   */
  public boolean isForked() {
    return origin.equals(Launcher.JOFI.label());
  }

  /** {@return the names of the launcher's variables, for messages} */
  public String variables() {
    return launcher().map(Launcher::variables).orElse(origin);
  }

  private Optional<Launcher> launcher() {
    return Stream.of(Launcher.values())
        .filter(launcher -> launcher.label().equals(origin))
        .findFirst();
  }

  /** Who placed it, as a phrase before what to do; empty if that is no launcher. */
  String placedBy() {
    return launcher().map(by -> "%s placed it (%s); ".formatted(origin, by.variables())).orElse("");
  }

  /** {@return the server's address, for messages} */
  public String address() {
    return (host.indexOf(':') < 0 ? "%s:%d" : "[%s]:%d").formatted(host, port);
  }

  /**
   * The variables from which {@link #of(Map)} makes this placement, for the process of a rank. Who
   * starts it so opens a {@link RankServer} for it.
   *
   * @return values by name
   */
  public Map<String, String> environment() {
    return Map.of(
        "JOFI_RANK", Integer.toString(rank),
        "JOFI_WORLD_SIZE", Integer.toString(size),
        "MASTER_ADDR", host,
        "MASTER_PORT", Integer.toString(port),
        "TORCHELASTIC_USE_AGENT_STORE", "False");
  }
}
