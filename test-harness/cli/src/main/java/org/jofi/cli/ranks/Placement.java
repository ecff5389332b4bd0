package org.jofi.cli.ranks;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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
  /** The default port of the server. */
  public static final int USUAL_PORT = 47_601;

  /** The origin of the rank that waits for the other. */
  public static final String LISTENS = "--listen";

  /** The origin of the rank that connects to the other. */
  public static final String CONNECTS = "--connect";

  private static final String FORKED = "jofi";
  private static final String LOOPBACK = "127.0.0.1";
  private static final Pattern FIRST_HOST = Pattern.compile("([^,\\[]+)(?:\\[([0-9]+))?.*");

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
   * The placement in the environment variables: the first that is found of {@link RankProcesses},
   * Open MPI, Slurm, PMI (MPICH, Intel MPI) and torchrun.
   *
   * @param environment variables
   * @return empty if nothing placed this process, or it is the only rank
   * @throws IllegalArgumentException if the variables make no sense, or do not say where rank 0 is;
   *     the message says which variable to set
   */
  public static Optional<Placement> of(Map<String, String> environment) {
    Environment from = new Environment(environment);
    Optional<Placement> found =
        from.ranks("JOFI_RANK", "JOFI_WORLD_SIZE", "JOFI_RANK", FORKED)
            .or(
                () ->
                    from.ranks(
                        "OMPI_COMM_WORLD_RANK",
                        "OMPI_COMM_WORLD_SIZE",
                        "OMPI_COMM_WORLD_LOCAL_RANK",
                        "Open MPI"))
            .or(() -> from.slurmStep())
            .or(() -> from.ranks("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI"))
            .or(() -> from.ranks("RANK", "WORLD_SIZE", "LOCAL_RANK", "torchrun"));
    // The only rank of a launcher may start ranks of its own, but not a rank that jofi started.
    return found.filter(placement -> placement.size > 1 || placement.isForked());
  }

  /** Whether {@link RankProcesses} started this rank. */
  public boolean isForked() {
    return origin.equals(FORKED);
  }

  /** The names of the launcher's variables, for messages. */
  public String variables() {
    return switch (origin) {
      case FORKED -> "JOFI_RANK, JOFI_WORLD_SIZE";
      case "Open MPI" -> "OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE";
      case "Slurm" -> "SLURM_PROCID, SLURM_NTASKS";
      case "PMI" -> "PMI_RANK, PMI_SIZE";
      case "torchrun" -> "RANK, WORLD_SIZE";
      default -> origin;
    };
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

  private record Environment(Map<String, String> variables) {

    /**
     * The placement of a Slurm step. srun sets the step's variables; a batch script has only the
     * job's variables and is not a rank.
     */
    Optional<Placement> slurmStep() {
      return variables.containsKey("SLURM_STEP_ID") || variables.containsKey("SLURM_STEPID")
          ? ranks("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "Slurm")
          : Optional.empty();
    }

    Optional<Placement> ranks(String rankName, String sizeName, String localName, String origin) {
      String rank = variables.get(rankName);
      String size = variables.get(sizeName);
      if (rank == null || size == null) {
        return Optional.empty();
      }
      int ranks = number(sizeName, size);
      String local = variables.get(localName);
      return Optional.of(
          new Placement(
              number(rankName, rank),
              ranks,
              local == null ? number(rankName, rank) : number(localName, local),
              ranks == 1 ? LOOPBACK : host(origin),
              port(),
              origin));
    }

    private String host(String origin) {
      String named = variables.get("MASTER_ADDR");
      if (named != null && !named.isBlank()) {
        return named.strip();
      }
      if (isOneMachine()) {
        return LOOPBACK;
      }
      String nodes = first("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST");
      if (nodes != null && origin.equals("Slurm")) {
        return firstHost(nodes);
      }
      throw new IllegalArgumentException(
          "%s placed this rank, and does not say where rank 0 is: set MASTER_ADDR to its host"
                  .formatted(origin)
              + ", for all ranks (mpirun -x MASTER_ADDR=host …)");
    }

    private boolean isOneMachine() {
      return equal("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE")
          || equal("MPI_LOCALNRANKS", "PMI_SIZE")
          || equal("LOCAL_WORLD_SIZE", "WORLD_SIZE")
          || "1".equals(first("SLURM_STEP_NUM_NODES", "SLURM_NNODES"));
    }

    private boolean equal(String one, String other) {
      String value = variables.get(one);
      return value != null && value.equals(variables.get(other));
    }

    /** The first of {@code node[001-004,007],other}: {@code node001}. */
    private static String firstHost(String nodes) {
      Matcher matcher = FIRST_HOST.matcher(nodes);
      if (!matcher.matches()) {
        throw new IllegalArgumentException(
            "Slurm's list of nodes is not understood: '%s'; set MASTER_ADDR".formatted(nodes));
      }
      String number = matcher.group(2);
      return number == null ? matcher.group(1) : matcher.group(1) + number;
    }

    private int port() {
      String named = variables.get("MASTER_PORT");
      if (named != null && !named.isBlank()) {
        // torchrun's agent itself listens on its port.
        int next = "True".equals(variables.get("TORCHELASTIC_USE_AGENT_STORE")) ? 1 : 0;
        return number("MASTER_PORT", named) + next;
      }
      // Jobs that share a machine must use different ports.
      String job = first("SLURM_JOB_ID", "PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid", "PMI_JOBID");
      return job == null ? USUAL_PORT : 20_000 + Math.floorMod(job.hashCode(), 12_000);
    }

    private @Nullable String first(String... names) {
      for (String name : names) {
        String value = variables.get(name);
        if (value != null && !value.isBlank()) {
          return value;
        }
      }
      return null;
    }

    private static int number(String name, String value) {
      try {
        return Integer.parseInt(value.strip());
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("%s is '%s', no number".formatted(name, value), e);
      }
    }
  }
}
