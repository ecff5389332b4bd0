package org.jofi.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PlacementTest {
  private static Placement placed(String... variables) {
    return Placement.of(map(variables)).orElseThrow();
  }

  private static Map<String, String> map(String... variables) {
    Map<String, String> map = new HashMap<>();
    for (String variable : variables) {
      int equals = variable.indexOf('=');
      map.put(variable.substring(0, equals), variable.substring(equals + 1));
    }
    return map;
  }

  @Test
  void nobodyPlacesAnOrdinaryProcess() {
    assertEquals(Optional.empty(), Placement.of(map("HOME=/home/a", "SLURM_PROCID=0")));
    assertEquals(
        Optional.empty(),
        Placement.of(map("OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1")),
        "a rank alone starts its own");
    // In a batch script, outside of srun, these are the job's.
    assertEquals(
        Optional.empty(), Placement.of(map("SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_JOB_ID=7")));
  }

  @Test
  void openMpi() {
    Placement placement =
        placed("OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=4");
    assertEquals(new Placement(3, 4, "127.0.0.1", Placement.USUAL_PORT, "Open MPI"), placement);
    placement =
        placed(
            "OMPI_COMM_WORLD_RANK=3",
            "OMPI_COMM_WORLD_SIZE=8",
            "OMPI_COMM_WORLD_LOCAL_SIZE=4",
            "MASTER_ADDR=node1",
            "MASTER_PORT=4711");
    assertEquals(new Placement(3, 8, "node1", 4711, "Open MPI"), placement);
  }

  @Test
  void saysWhichVariableIsMissing() {
    IllegalArgumentException refusal =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                placed(
                    "OMPI_COMM_WORLD_RANK=3",
                    "OMPI_COMM_WORLD_SIZE=8",
                    "OMPI_COMM_WORLD_LOCAL_SIZE=4"));
    assertTrue(refusal.getMessage().contains("set MASTER_ADDR"), refusal.getMessage());
  }

  @Test
  void slurm() {
    String[] two = {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_JOB_ID=9"};
    Map<String, String> variables = map(two);
    variables.put("SLURM_STEP_NUM_NODES", "2");
    variables.put("SLURM_STEP_NODELIST", "gpu[012-014,17],cpu1");
    Placement placement = Placement.of(variables).orElseThrow();
    assertEquals("gpu012", placement.host());
    assertEquals("Slurm", placement.origin());
    assertTrue(placement.port() >= 20_000 && placement.port() < 32_000);
    variables.put("SLURM_STEP_NODELIST", "alone");
    assertEquals("alone", Placement.of(variables).orElseThrow().host());
    variables.put("SLURM_STEP_NUM_NODES", "1");
    assertEquals("127.0.0.1", Placement.of(variables).orElseThrow().host());
  }

  /** They are of the daemons that srun started on each node. */
  @Test
  void theInnermostLauncherWins() {
    Map<String, String> slurm = map("SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2");
    slurm.put("MASTER_ADDR", "h");
    String[][] inner = {
      {"torchrun", "RANK=3", "WORLD_SIZE=4", "LOCAL_RANK=1", "TORCHELASTIC_RUN_ID=none"},
      {"torchrun", "RANK=3", "WORLD_SIZE=4", "LOCAL_RANK=1"},
      {"Open MPI", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4"},
      {"MVAPICH2", "MV2_COMM_WORLD_RANK=3", "MV2_COMM_WORLD_SIZE=4"},
      {"MVAPICH", "MVP_COMM_WORLD_RANK=3", "MVP_COMM_WORLD_SIZE=4"},
      {"JSM", "JSM_NAMESPACE_RANK=3", "JSM_NAMESPACE_SIZE=4", "PMIX_RANK=3"},
      {"PALS", "PMI_RANK=3", "PMI_SIZE=4", "PMI_LOCAL_RANK=1"},
      {"PMI", "PMI_RANK=3", "PMI_SIZE=4", "MPI_LOCALRANKID=1"},
      {"Flux", "FLUX_TASK_RANK=3", "FLUX_JOB_SIZE=4", "FLUX_TASK_LOCAL_ID=1"},
    };
    for (String[] one : inner) {
      Map<String, String> variables = new HashMap<>(slurm);
      variables.putAll(map(Arrays.copyOfRange(one, 1, one.length)));
      Placement placement = Placement.of(variables).orElseThrow();
      assertEquals(one[0], placement.origin());
      assertEquals(3, placement.rank(), one[0]);
      assertEquals(4, placement.size(), one[0]);
      assertTrue(placement.variables().contains(one[1].substring(0, one[1].indexOf('='))), one[0]);
      // Within a step of one, too: else each would start ranks of its own.
      variables.put("SLURM_PROCID", "0");
      variables.put("SLURM_NTASKS", "1");
      assertEquals(Optional.of(placement), Placement.of(variables), one[0]);
    }
    slurm.putAll(map("RANK=7", "WORLD_SIZE=8"));
    assertEquals("Slurm", Placement.of(slurm).orElseThrow().origin(), "a script's are the last");
  }

  @Test
  void thoseThatEachWouldBeARunOfItsOwnAreRefused() {
    Map<String, String> variables =
        map("SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_STEP_NUM_NODES=1");
    variables.putAll(map("RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0", "MASTER_ADDR=h"));
    String words = refused(variables);
    assertTrue(
        words.contains("torchrun made this process the only rank (RANK, WORLD_SIZE)")
            && words.contains("one of 2 that Slurm started (SLURM_PROCID, SLURM_STEP_ID)"),
        words);
    words = refused(map("PMIX_RANK=1", "PMIX_NAMESPACE=job"));
    assertTrue(
        words.contains("PMIX_RANK makes this process rank 1")
            && words.contains("set RANK, WORLD_SIZE and MASTER_ADDR"),
        words);
    assertEquals(
        "a script", placed("PMIX_RANK=1", "RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=h").origin());
  }

  private static String refused(Map<String, String> variables) {
    return assertThrows(IllegalArgumentException.class, () -> Placement.of(variables)).getMessage();
  }

  /** Batch, interactive, extern. */
  @Test
  void whatSlurmRunsAsAStepIsNoRank() {
    for (long step = 4_294_967_290L; step <= 4_294_967_295L; step++) {
      assertEquals(
          Optional.empty(),
          Placement.of(map("SLURM_STEP_ID=" + step, "SLURM_PROCID=0", "SLURM_NTASKS=4")));
    }
    // srun --pty in an allocation of four.
    assertEquals(
        Optional.empty(),
        Placement.of(
            map("SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_STEP_NUM_TASKS=1")));
    assertTrue(refused(map("SLURM_STEP_ID=x", "SLURM_PROCID=0", "SLURM_NTASKS=4")).contains("'x'"));
  }

  @Test
  void slurmsHostsAreThoseOfRanksThatItStartedThroughPmi() {
    Map<String, String> variables =
        map("SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "PMI_RANK=1", "PMI_SIZE=2");
    variables.put("SLURM_STEP_NODELIST", "n[3-4]");
    assertEquals("n3", Placement.of(variables).orElseThrow().host());
    variables.put("PMI_SIZE", "4");
    assertTrue(refused(variables).contains("set MASTER_ADDR"));
  }

  @Test
  void runsBesideEachOtherHaveDifferentPorts() {
    Map<String, String> variables =
        map("SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_JOB_ID=9");
    variables.put("SLURM_STEP_NUM_NODES", "1");
    int port = Placement.of(variables).orElseThrow().port();
    assertEquals(port, Placement.of(variables).orElseThrow().port());
    variables.put("SLURM_STEP_ID", "1");
    assertNotEquals(port, Placement.of(variables).orElseThrow().port());
    variables.putAll(map("OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2"));
    variables.put("PMIX_NAMESPACE", "prterun-1");
    port = Placement.of(variables).orElseThrow().port();
    variables.put("PMIX_NAMESPACE", "prterun-2");
    assertNotEquals(port, Placement.of(variables).orElseThrow().port());
  }

  @Test
  void pmi() {
    assertEquals(
        new Placement(0, 2, "127.0.0.1", Placement.USUAL_PORT, "PMI"),
        placed("PMI_RANK=0", "PMI_SIZE=2", "MPI_LOCALNRANKS=2"));
  }

  @Test
  void torchrunsAgentKeepsItsPort() {
    Map<String, String> variables =
        map("RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=h", "MASTER_PORT=29500");
    assertEquals(29500, Placement.of(variables).orElseThrow().port());
    variables.put("TORCHELASTIC_USE_AGENT_STORE", "True");
    assertEquals(29501, Placement.of(variables).orElseThrow().port());
  }

  @Test
  void forkedRanksWinOverWhatTheyWereForkedFrom() {
    Placement forked = new Placement(1, 2, "127.0.0.1", 5000, "jofi");
    Map<String, String> variables =
        map("OMPI_COMM_WORLD_RANK=7", "OMPI_COMM_WORLD_SIZE=8", "MASTER_ADDR=far");
    variables.putAll(forked.environment());
    assertEquals(Optional.of(forked), Placement.of(variables));
  }

  /** Else it would start ranks of its own, and each of those as well, without end. */
  @Test
  void aForkedRankIsOneAlsoAlone() {
    Placement forked = new Placement(0, 1, "127.0.0.1", 5000, "jofi");
    assertEquals(Optional.of(forked), Placement.of(forked.environment()));
    assertTrue(forked.isForked());
  }

  @Test
  void saysByWhatItIsPlaced() {
    assertEquals("RANK, WORLD_SIZE", placed("RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=h").variables());
    assertEquals(
        "PMI_RANK, PMI_SIZE", placed("PMI_RANK=1", "PMI_SIZE=2", "MASTER_ADDR=h").variables());
  }

  @Test
  void itsNumberOnItsMachine() {
    String[][] environments = {
      {
        "OMPI_COMM_WORLD_RANK=5",
        "OMPI_COMM_WORLD_SIZE=8",
        "OMPI_COMM_WORLD_LOCAL_RANK=1",
        "MASTER_ADDR=h"
      },
      {"SLURM_STEP_ID=0", "SLURM_PROCID=5", "SLURM_NTASKS=8", "SLURM_LOCALID=1", "MASTER_ADDR=h"},
      {"PMI_RANK=5", "PMI_SIZE=8", "MPI_LOCALRANKID=1", "MASTER_ADDR=h"},
      {"PMI_RANK=5", "PMI_SIZE=8", "PMI_LOCAL_RANK=1", "MASTER_ADDR=h"},
      {"FLUX_TASK_RANK=5", "FLUX_JOB_SIZE=8", "FLUX_TASK_LOCAL_ID=1", "FLUX_JOB_NNODES=1"},
      {"RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "MASTER_ADDR=h"},
    };
    for (String[] environment : environments) {
      Placement placement = placed(environment);
      assertEquals(5, placement.rank());
      assertEquals(1, placement.localRank(), environment[0]);
    }
    assertEquals(5, placed("RANK=5", "WORLD_SIZE=8", "MASTER_ADDR=h").localRank());
    assertEquals(
        5,
        placed("PMI_RANK=5", "PMI_SIZE=8", "LOCAL_RANK=1", "MASTER_ADDR=h").localRank(),
        "another launcher's");
    Map<String, String> forked = map("LOCAL_RANK=3");
    forked.putAll(new Placement(1, 2, "127.0.0.1", 5000, "jofi").environment());
    assertEquals(1, Placement.of(forked).orElseThrow().localRank());
  }

  @Test
  void nonsenseIsNamed() {
    for (String[] variables :
        new String[][] {
          {"RANK=x", "WORLD_SIZE=2", "MASTER_ADDR=h"},
          {"RANK=2", "WORLD_SIZE=2", "MASTER_ADDR=h"},
          {"RANK=-1", "WORLD_SIZE=2", "MASTER_ADDR=h"},
          {"RANK=0", "WORLD_SIZE=99999", "MASTER_ADDR=h"},
          {"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=h", "MASTER_PORT=70000"},
          {"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=h", "MASTER_PORT=http"},
          {"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=h", "LOCAL_RANK=-1"},
          {"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=h", "LOCAL_RANK=first"},
        }) {
      assertThrows(IllegalArgumentException.class, () -> placed(variables), variables[0]);
    }
  }
}
