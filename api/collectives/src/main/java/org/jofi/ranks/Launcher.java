package org.jofi.ranks;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What starts the ranks of a run, known by the variables that it gives each of them: the innermost
 * first, since a process inherits also those of what started its launcher. Slurm's srun starts the
 * daemons of all the others; PMI's variables are given by Hydra (MPICH, Intel MPI), PALS, and by
 * Flux and Slurm beside their own.
 */
enum Launcher {
  /** What set the variables of {@link Placement#environment}. */
  JOFI("jofi", "JOFI_RANK", "JOFI_WORLD_SIZE", "", ""),
  /** Or what sets the same variables, as DeepSpeed's. */
  TORCHRUN("torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
  OPEN_MPI(
      "Open MPI",
      "OMPI_COMM_WORLD_RANK",
      "OMPI_COMM_WORLD_SIZE",
      "OMPI_COMM_WORLD_LOCAL_RANK",
      "OMPI_COMM_WORLD_LOCAL_SIZE"),
  MVAPICH_2(
      "MVAPICH2",
      "MV2_COMM_WORLD_RANK",
      "MV2_COMM_WORLD_SIZE",
      "MV2_COMM_WORLD_LOCAL_RANK",
      "MV2_COMM_WORLD_LOCAL_SIZE"),
  MVAPICH(
      "MVAPICH",
      "MVP_COMM_WORLD_RANK",
      "MVP_COMM_WORLD_SIZE",
      "MVP_COMM_WORLD_LOCAL_RANK",
      "MVP_COMM_WORLD_LOCAL_SIZE"),
  JSM(
      "JSM",
      "JSM_NAMESPACE_RANK",
      "JSM_NAMESPACE_SIZE",
      "JSM_NAMESPACE_LOCAL_RANK",
      "JSM_NAMESPACE_LOCAL_SIZE"),
  PALS("PALS", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"),
  PMI("PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
  FLUX("Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", ""),
  SLURM("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""),
  /** Somebody's script. */
  SCRIPT("a script", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE");

  /** From here on Slurm numbers what is no step of ranks: batch, interactive and extern steps. */
  private static final long FIRST_RESERVED_STEP = 4_294_967_290L;

  /** What a script sets that gives ranks by hand. */
  static final String BY_HAND = "RANK, WORLD_SIZE and MASTER_ADDR";

  private final String label;
  private final String rank;
  private final String size;
  private final String localRank;
  private final String localSize;

  Launcher(String label, String rank, String size, String localRank, String localSize) {
    this.label = label;
    this.rank = rank;
    this.size = size;
    this.localRank = localRank;
    this.localSize = localSize;
  }

  /** The launchers that gave a process its place, the innermost first. */
  static List<Launcher> of(Map<String, String> environment) {
    return Stream.of(values()).filter(one -> one.placed(environment)).toList();
  }

  /**
   * Whoever started this process as one rank among others, without telling it of how many; to be
   * asked if nobody else placed it.
   */
  static Optional<String> withoutSize(Map<String, String> environment) {
    return has(environment, "PMIX_RANK") ? Optional.of("PMIX_RANK") : Optional.empty();
  }

  private boolean placed(Map<String, String> environment) {
    boolean given = has(environment, rank) && has(environment, size(environment));
    return given
        && switch (this) {
          case TORCHRUN -> isOfTorch(environment);
          case SCRIPT -> !isOfTorch(environment);
          case PALS -> has(environment, "PMI_LOCAL_RANK");
          case PMI -> !has(environment, "PMI_LOCAL_RANK");
          case SLURM -> isStepOfRanks(environment);
          default -> true;
        };
  }

  private static boolean isOfTorch(Map<String, String> environment) {
    return has(environment, "TORCHELASTIC_RUN_ID") || has(environment, "LOCAL_RANK");
  }

  /**
   * srun sets a step's variables; a batch script has only the job's, and is no rank. Nor is the
   * shell that salloc starts, which some Slurms run as a step.
   */
  private static boolean isStepOfRanks(Map<String, String> environment) {
    String step = step(environment);
    if (step == null) {
      return false;
    }
    try {
      return Long.parseLong(step.strip()) < FIRST_RESERVED_STEP;
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("SLURM_STEP_ID is '%s', no number".formatted(step), e);
    }
  }

  private static @Nullable String step(Map<String, String> environment) {
    return has(environment, "SLURM_STEP_ID")
        ? environment.get("SLURM_STEP_ID")
        : environment.get("SLURM_STEPID");
  }

  /** What it is called, in messages. */
  String label() {
    return label;
  }

  /** The rank's variable. */
  String rank() {
    return rank;
  }

  /** The variable with the number of ranks. */
  String size(Map<String, String> environment) {
    return this == SLURM && !has(environment, size) ? "SLURM_NTASKS" : size;
  }

  /** The variable with the rank's number on its machine, if it has one here. */
  Optional<String> localRank(Map<String, String> environment) {
    return Optional.of(localRank).filter(name -> has(environment, name));
  }

  /** The names of the variables that make a process a rank, for messages. */
  String variables() {
    return this == SLURM ? "SLURM_PROCID, SLURM_STEP_ID" : rank + ", " + size;
  }

  /** Whether all its ranks are on this machine, as far as it says. */
  boolean isOneMachine(Map<String, String> environment) {
    String here = environment.get(localSize);
    return (here != null && here.equals(environment.get(size(environment))))
        || "1".equals(environment.get("FLUX_JOB_NNODES"))
        || "1".equals(environment.get("SLURM_STEP_NUM_NODES"))
        || (!has(environment, "SLURM_STEP_NUM_NODES")
            && "1".equals(environment.get("SLURM_NNODES")));
  }

  /** What distinguishes this run from others on the same machine: equal for its ranks, or empty. */
  String job(Map<String, String> environment) {
    if (this == SLURM) {
      return environment.getOrDefault("SLURM_JOB_ID", "") + "." + step(environment);
    }
    return jobVariables()
        .map(name -> environment.getOrDefault(name, ""))
        .filter(value -> !value.isBlank())
        .findFirst()
        .orElse(environment.getOrDefault("SLURM_JOB_ID", ""));
  }

  private Stream<String> jobVariables() {
    return switch (this) {
      case OPEN_MPI -> Stream.of("PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid");
      case MVAPICH_2, MVAPICH -> Stream.of("PMI_JOBID");
      case JSM -> Stream.of("LSB_JOBID");
      case PALS -> Stream.of("PALS_APID", "PMI_JOBID");
      case PMI -> Stream.of("PMI_JOBID", "PMIX_NAMESPACE");
      case FLUX -> Stream.of("FLUX_JOB_ID");
      case JOFI, TORCHRUN, SLURM, SCRIPT -> Stream.of();
    };
  }

  private static boolean has(Map<String, String> environment, String name) {
    String value = environment.get(name);
    return value != null && !value.isBlank();
  }
}
