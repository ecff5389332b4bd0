package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code jofi allreduce}, started by the launchers themselves: Slurm, Open MPI and MPICH. */
@Tag("long")
@Timeout(300)
class LaunchersTest {
  private static final String[] ALL_REDUCE = {"allreduce", "-s", "4,64K", "-k", "2", "--prepare=0"};

  private static final String BY_SLURM = "Slurm (SLURM_PROCID, SLURM_STEP_ID)";
  private static final String BY_OPEN_MPI = "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)";
  private static final String BY_MPICH = "PMI (PMI_RANK, PMI_SIZE)";

  /** Two processes, as torchrun starts them. */
  private static final String TWO_OF_TORCHRUN =
      """
      export WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 TORCHELASTIC_RUN_ID=none
      RANK=0 LOCAL_RANK=0 "$@" & first=$!
      RANK=1 LOCAL_RANK=1 "$@" & second=$!
      wait $first && wait $second
      """;

  @TempDir private static Path shared;
  private static @Nullable SlurmCluster slurm;

  @TempDir private Path folder;

  @BeforeAll
  static void startSlurm() throws Exception {
    if (SlurmCluster.obstacle().isEmpty()) {
      slurm = new SlurmCluster(shared);
    }
  }

  @AfterAll
  static void stopSlurm() throws Exception {
    if (slurm != null) {
      slurm.stop();
    }
  }

  private static Map<String, String> inSlurm() {
    assumeTrue(slurm != null, SlurmCluster.obstacle());
    return Map.of("SLURM_CONF", slurm.configuration());
  }

  private static void needs(String program, String debian) {
    assumeTrue(
        SlurmCluster.isHere(program),
        "%s is not here: it comes with Debian's package %s".formatted(program, debian));
  }

  private CommandProcess.Outcome run(Map<String, String> environment, List<String> launcher)
      throws Exception {
    ProcessBuilder builder = CommandProcess.builder(environment, ALL_REDUCE);
    List<String> command = new ArrayList<>(launcher);
    command.addAll(builder.command());
    return CommandProcess.run(folder, builder.command(command));
  }

  /** Both ranks of one run, and not two runs of one. */
  private static void assertOneRun(CommandProcess.Outcome outcome, String placed) {
    assertEquals(0, outcome.code(), outcome.err());
    List<String> heads =
        outcome.out().lines().filter(line -> line.startsWith("all-reduce")).toList();
    assertEquals(1, heads.size(), outcome.out());
    assertTrue(heads.getFirst().contains(" 2 rank(s)"), outcome.out());
    assertTrue(
        outcome.out().contains("every element of every round was the exact sum"), outcome.out());
    assertTrue(outcome.err().contains("placed by " + placed + " as rank 0 of 2;"), outcome.err());
  }

  /** Rank 0 is found by the list of hosts, which Slurm's own program reads. */
  @Test
  void slurmsRanksOnTwoNodesFindEachOther() throws Exception {
    Map<String, String> environment = new HashMap<>(inSlurm());
    Path asked = folder.resolve("asked");
    Path before = Files.createDirectory(folder.resolve("bin"));
    Path scontrol = before.resolve("scontrol");
    Files.writeString(
        scontrol,
        "#!/bin/sh\necho \"$@\" >>'%s'\nPATH='%s' exec scontrol \"$@\"\n"
            .formatted(asked, System.getenv("PATH")));
    assertTrue(scontrol.toFile().setExecutable(true));
    environment.put("PATH", before + ":" + System.getenv("PATH"));
    assertOneRun(run(environment, List.of("srun", "-N", "2", "-n", "2")), BY_SLURM);
    assertTrue(
        Files.readString(asked).contains("show hostnames 127.0.0.[1-2]"), Files.readString(asked));
  }

  @Test
  void slurmsRanksOnOneNodeFindEachOther() throws Exception {
    assertOneRun(run(inSlurm(), List.of("srun", "-N", "1", "-n", "2")), BY_SLURM);
  }

  @Test
  void torchrunInAStepOfOneTaskPlacesTheRanks() throws Exception {
    Map<String, String> environment = new HashMap<>(inSlurm());
    environment.put("MASTER_PORT", Integer.toString(Ports.free()));
    assertOneRun(
        run(environment, List.of("srun", "-n", "1", "sh", "-c", TWO_OF_TORCHRUN, "sh")),
        "torchrun (RANK, WORLD_SIZE)");
  }

  /** Each would be exact by itself. */
  @Test
  void onlyRanksInEachTaskOfAStepAreRefused() throws Exception {
    CommandProcess.Outcome outcome =
        run(inSlurm(), List.of("srun", "-n", "2", "env", "RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0"));
    assertEquals(2, outcome.code(), outcome.err());
    assertTrue(
        outcome.err().contains("torchrun made this process the only rank")
            && outcome.err().contains("in one of 2 that Slurm started"),
        outcome.err());
  }

  /** It has a number, a size and a step of its own, as ranks have. */
  @Test
  void theShellThatSallocOpensIsNoRank() throws Exception {
    Map<String, String> environment = new HashMap<>(inSlurm());
    environment.put("SHELL", "/bin/sh");
    ProcessBuilder builder = CommandProcess.builder(environment, ALL_REDUCE);
    List<String> command = new ArrayList<>(builder.command());
    command.addAll(List.of("-n", "2", "--rank-threads"));
    Path typed = folder.resolve("typed");
    Files.writeString(
        typed,
        "echo step $SLURM_STEP_ID of job $SLURM_JOB_ID, $SLURM_PROCID of $SLURM_NTASKS\n"
            + command.stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "))
            + "\n");
    CommandProcess.Outcome outcome =
        CommandProcess.run(
            folder, builder.command("salloc", "-n", "2").redirectInput(typed.toFile()));
    assertEquals(0, outcome.code(), outcome.err());
    assertTrue(outcome.out().startsWith("step 4294967290 of job "), outcome.out());
    assertTrue(outcome.out().contains(", 0 of 2\nall-reduce"), outcome.out());
    assertTrue(
        outcome.out().contains("every element of every round was the exact sum"), outcome.out());
    assertFalse(outcome.err().contains("placed by"), outcome.err());
  }

  private static List<String> openMpi() {
    needs("mpirun.openmpi", "openmpi-bin");
    return List.of("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2");
  }

  private static List<String> mpich() {
    needs("mpirun.mpich", "mpich");
    return List.of("mpirun.mpich", "-n", "2");
  }

  private static List<String> inAllocation(List<String> launcher) {
    List<String> command = new ArrayList<>(List.of("salloc", "-N", "1", "-n", "2"));
    command.addAll(launcher);
    return command;
  }

  @Test
  void openMpisRanksFindEachOther() throws Exception {
    assertOneRun(run(Map.of(), openMpi()), BY_OPEN_MPI);
  }

  @Test
  void mpichsRanksFindEachOther() throws Exception {
    // Without Slurm it numbers no jobs, by which others on this machine would meet elsewhere.
    String port = Integer.toString(Ports.free());
    assertOneRun(run(Map.of("MASTER_PORT", port), mpich()), BY_MPICH);
  }

  @Test
  void openMpisRanksInAnAllocationOfSlurmsFindEachOther() throws Exception {
    assertOneRun(run(inSlurm(), inAllocation(openMpi())), BY_OPEN_MPI);
  }

  /** It starts them from a step of one task. */
  @Test
  void mpichsRanksInAnAllocationOfSlurmsFindEachOther() throws Exception {
    assertOneRun(run(inSlurm(), inAllocation(mpich())), BY_MPICH);
  }
}
