package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code jofi allreduce --memory cuda}, without a GPU and over the stand-in for the driver. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class AllReduceGpuTest {
  /** CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED. */
  private static final int DMA_BUF = 124;

  private static final String SUMS =
      "allreduce --memory cuda --json -s 4,12,4004,256K,3M -k 2 -w 1 --chunk 128K --prepare 0.1 -n ";

  @TempDir private static Path shared;
  @TempDir private Path folder;

  private static Path driver;

  @BeforeAll
  static void build() throws Exception {
    driver = CudaStandIn.build(shared);
  }

  private Map<String, String> noDriver() {
    return Map.of("JOFI_CUDA", folder + "/none");
  }

  private static Map<String, String> standIn() {
    return Map.of("JOFI_CUDA", driver.toString(), "CUDA_DOUBLE_ATTRIBUTES", DMA_BUF + "=1");
  }

  /** Nothing is started then. */
  @Test
  void withoutAGpuItSaysSoOnce() throws Exception {
    for (CommandProcess.Outcome outcome :
        CommandProcess.runInTurn(
            folder,
            noDriver(),
            "allreduce --memory cuda -s 4K",
            "allreduce --memory cuda -s 4K -p tcp",
            "allreduce --memory cuda -s 4K -p shm",
            "allreduce --memory cuda -s 4K -p sim:efa",
            "allreduce --memory cuda -s 4K -p sim:tcp")) {
      assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
      assertEquals("", outcome.out());
      assertTrue(outcome.err().startsWith("jofi: there is no GPU: no CUDA driver"), outcome.err());
      assertEquals(1, outcome.err().split("no CUDA driver", -1).length - 1, outcome.err());
      assertFalse(outcome.err().contains("\tat "), outcome.err());
    }
  }

  @Test
  void theGpusFormTheExactSums() throws Exception {
    List<CommandProcess.Outcome> outcomes =
        CommandProcess.runInTurn(
            folder,
            standIn(),
            SUMS + "2 -p shm --rank-threads",
            SUMS + "2 -p sim:efa --rails 2",
            SUMS + "3 -p tcp --rails 2 --rank-threads",
            SUMS + "4 -p sim:cxi",
            SUMS + "2 -p sim:tcp");
    assertExactSums(outcomes.get(0), 2, 1);
    assertExactSums(outcomes.get(1), 2, 2);
    assertExactSums(outcomes.get(2), 3, 2);
    assertExactSums(outcomes.get(3), 4, 1);
    assertExactSums(outcomes.get(4), 2, 1);
  }

  @ParameterizedTest
  @CsvSource({"-p tcp, 2, 1", "-p shm --rails 2, 3, 2"})
  @Tag("long")
  void theGpusOfProcessesFormTheExactSums(String provider, int ranks, int rails) throws Exception {
    String[] words = (SUMS + ranks + " " + provider).split(" ");
    assertExactSums(CommandProcess.run(folder, standIn(), words), ranks, rails);
  }

  private static void assertExactSums(CommandProcess.Outcome outcome, int ranks, int rails) {
    assertEquals(0, outcome.code(), outcome.err());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals(0, document.get("errors").getAsLong(), outcome.out());
    assertEquals(5, document.getAsJsonArray("results").size());
    assertEquals(rails, document.getAsJsonArray("rails").size());
    assertEquals("cuda", document.get("memory").getAsString());
    assertTrue(
        document
            .get("memoryPath")
            .getAsString()
            .startsWith("staged through pinned host memory, 1 MiB chunks"),
        outcome.out());
    List<String> gpus = new ArrayList<>();
    document.getAsJsonArray("gpus").forEach(gpu -> gpus.add(gpu.getAsString()));
    List<String> expected = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      expected.add("Double %d (CUDA device %d)".formatted(rank % 2, rank % 2));
    }
    assertEquals(expected, gpus);
  }

  @Test
  void aGpuIsChosenAndNamed() throws Exception {
    List<CommandProcess.Outcome> outcomes =
        CommandProcess.runInTurn(
            folder,
            standIn(),
            "allreduce --memory cuda --gpu 1,0 -n 3 -p tcp -s 4K -k 1 --prepare 0 --rank-threads",
            "allreduce --memory cuda -s 4K --gpu 5",
            "allreduce --memory cuda -s 4K --gpu 0,5",
            "allreduce --memory cuda -s 4K --gpu 2 -p sim:efa");
    assertTheHeadSaysWhichGpuAndWhichPath(outcomes.getFirst());
    for (CommandProcess.Outcome outcome : outcomes.subList(1, 4)) {
      assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
      assertTrue(
          outcome.err().matches("jofi: there is no GPU [52]: there are 2, numbered from 0\n"),
          outcome.err());
    }
  }

  private static void assertTheHeadSaysWhichGpuAndWhichPath(CommandProcess.Outcome outcome) {
    assertEquals(0, outcome.code(), outcome.err());
    List<String> lines = outcome.out().lines().toList();
    assertEquals(
        "arrays in GPU memory, rank 0, 2: Double 1 (CUDA device 1); rank 1: Double 0 (CUDA device"
            + " 0); staged through pinned host memory, 1 MiB chunks",
        lines.get(1));
    assertEquals("", lines.get(2));
    assertTrue(lines.get(3).matches(" +SIZE +COUNT .*"), outcome.out());
  }

  @ParameterizedTest
  @CsvSource({
    "cuLaunchKernel=719, -p tcp",
    "cuStreamQuery=719, -p sim:efa",
    "cuModuleLoadData=218, -p tcp",
    "cuMemAlloc_v2=2, -p tcp"
  })
  void aGpuThatFailsEndsTheRanksWithItsWords(String failure, String provider) throws Exception {
    Map<String, String> environment = new HashMap<>(standIn());
    environment.put("CUDA_DOUBLE_FAILS", failure);
    String words = "allreduce --memory cuda -s 4K --prepare 0 --rank-threads " + provider;
    CommandProcess.Outcome outcome = CommandProcess.run(folder, environment, words.split(" "));
    assertEquals(ExitCode.FAILED, outcome.code(), outcome.err());
    String function = failure.substring(0, failure.indexOf('=')).replace("_v2", "");
    assertTrue(
        outcome.err().matches("(?s).*rank [01]: " + function + " on CUDA device [01].*"),
        outcome.err());
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--memory dance",
        "--gpu 0",
        "--memory host --gpu 0",
        "--memory cuda --gpu x",
        "--memory cuda --gpu 0,,1",
        "--memory cuda --gpu -1"
      })
  void wrongUsageIsToldFirst(String arguments) throws Exception {
    CommandProcess.Outcome outcome = CommandProcess.runHere(("allreduce " + arguments).split(" "));
    assertEquals(ExitCode.USAGE, outcome.code(), outcome.err());
    assertEquals("", outcome.out());
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }

  /** Under mpirun, which numbers the machine's ranks the other way round. */
  private List<CommandProcess.Outcome> placed(Map<String, String> environment, String... memory)
      throws Exception {
    int port = Ports.free();
    List<Process> ranks = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      Map<String, String> variables = new HashMap<>(environment);
      variables.putAll(
          Map.of(
              "OMPI_COMM_WORLD_RANK",
              Integer.toString(rank),
              "OMPI_COMM_WORLD_SIZE",
              "2",
              "OMPI_COMM_WORLD_LOCAL_RANK",
              Integer.toString(1 - rank),
              "MASTER_ADDR",
              "127.0.0.1",
              "MASTER_PORT",
              Integer.toString(port)));
      ranks.add(
          CommandProcess.builder(
                  variables,
                  "allreduce",
                  "--json",
                  "-p",
                  "tcp",
                  "-s",
                  "4K",
                  "-k",
                  "1",
                  "--prepare",
                  "0",
                  "--memory",
                  memory[rank])
              .redirectOutput(folder.resolve("out" + rank).toFile())
              .redirectError(folder.resolve("err" + rank).toFile())
              .start());
    }
    List<CommandProcess.Outcome> outcomes = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      assertTrue(ranks.get(rank).waitFor(150, TimeUnit.SECONDS), "rank " + rank + " hangs");
      outcomes.add(
          new CommandProcess.Outcome(
              ranks.get(rank).exitValue(),
              Files.readString(folder.resolve("out" + rank)),
              Files.readString(folder.resolve("err" + rank))));
    }
    return outcomes;
  }

  @Test
  void theLocalRankChoosesTheGpu() throws Exception {
    CommandProcess.Outcome first = placed(standIn(), "cuda", "cuda").getFirst();
    assertEquals(0, first.code(), first.err());
    assertEquals(
        "[\"Double 1 (CUDA device 1)\",\"Double 0 (CUDA device 0)\"]",
        JsonParser.parseString(first.out()).getAsJsonObject().get("gpus").toString());
  }

  @Test
  void aPlacedRankWithoutAGpuEndsTheOthers() throws Exception {
    for (CommandProcess.Outcome outcome : placed(noDriver(), "cuda", "cuda")) {
      assertTrue(outcome.code() == ExitCode.ENVIRONMENT || outcome.err().contains("failed:"));
      assertTrue(outcome.err().contains("there is no GPU: no CUDA driver"), outcome.err());
      assertFalse(outcome.err().contains("\tat "), outcome.err());
    }
  }

  @Test
  void allRanksUseTheSameKindOfMemory() throws Exception {
    List<CommandProcess.Outcome> outcomes = placed(standIn(), "host", "cuda");
    for (CommandProcess.Outcome outcome : outcomes) {
      assertEquals(ExitCode.FAILED, outcome.code(), outcome.err());
    }
    assertTrue(
        outcomes.stream().anyMatch(outcome -> outcome.err().contains("--memory is ")),
        outcomes::toString);
  }
}
