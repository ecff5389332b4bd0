package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The programs in examples/, each of which checks what it did. */
@Timeout(300)
class ExamplesTest {
  /** Surefire runs tests in the module's folder. */
  private static final Path EXAMPLES = Path.of("..", "..", "examples");

  /** What each prints that needs no GPU. */
  private static final Map<String, String> SAID =
      Map.of(
          "HaloExchange", "100 steps of 128 rows by 2 ranks: every cell as by one",
          "ReduceScatter", "4 ranks hold a part each of the sum of 4096 KiB",
          "ParameterServer", "64 peers added 20 times each: every parameter is the exact sum");

  @TempDir private Path folder;

  private String run(Map<String, String> environment, String program, String... arguments)
      throws IOException, InterruptedException {
    CommandProcess.Outcome outcome =
        CommandProcess.run(
            folder,
            CommandProcess.program(environment, EXAMPLES.resolve(program + ".java"), arguments));
    assertEquals("", outcome.err());
    assertEquals(0, outcome.code(), outcome.out());
    return outcome.out();
  }

  @ParameterizedTest
  @CsvSource({"HaloExchange, net", "ReduceScatter, shm", "ParameterServer, shm"})
  void eachDoesWhatItSays(String program, String provider) throws Exception {
    assertEquals(SAID.get(program) + "\n", run(Map.of(), program, provider));
  }

  @ParameterizedTest
  @CsvSource({
    "HaloExchange, shm",
    "HaloExchange, tcp;ofi_rxm",
    "ReduceScatter, net",
    "ReduceScatter, tcp;ofi_rxm",
    "ParameterServer, net"
  })
  @Tag("long")
  void eachDoesSoOverOtherProviders(String program, String provider) throws Exception {
    eachDoesWhatItSays(program, provider);
  }

  @Test
  void gpuExchange() throws Exception {
    assertThatGpuMemoryArrives("net");
  }

  @Test
  @Tag("long")
  void gpuExchangeOverSharedMemory() throws Exception {
    assertThatGpuMemoryArrives("shm");
  }

  /** Over the stand-in for the driver. */
  private void assertThatGpuMemoryArrives(String provider) throws Exception {
    Map<String, String> standIn = Map.of("JOFI_CUDA", CudaStandIn.build(folder).toString());
    String said = run(standIn, "GpuExchange", provider);
    assertTrue(said.startsWith("staged through pinned host memory"), said);
    assertTrue(said.endsWith("\n4096 KiB of GPU memory arrived\n"), said);
  }

  @Test
  void tensorParallelInference() throws Exception {
    String said = tensorParallel("--as", "threads", "--ranks", "2", "--providers", "shm");
    assertAgrees(said, "jofi", "star-sockets");
    assertTrue(
        said.lines().anyMatch(line -> line.matches("shm +2  jofi +[0-9.]+ .* [0-9.]+% .*")), said);
  }

  /** Short, of few and narrow layers; what all ranks said. */
  private String tensorParallel(String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(
        List.of(
            "--layers", "2", "--width", "64", "--heads", "4", "--tokens", "8", "--rounds", "1"));
    return run(Map.of(), "inference/TensorParallel", all.toArray(String[]::new));
  }

  /** The program checks it, and ends with another exit code if it is not so. */
  private static void assertAgrees(String said, String... ways) {
    for (String way : ways) {
      assertTrue(
          said.contains("# " + way + ": at most ") && said.contains("the same bits on all ranks"),
          said);
    }
  }

  /** Processes that it starts, and what draws its figures: each compiles its source again. */
  @Test
  @Tag("long")
  void tensorParallelInferenceInProcesses() throws Exception {
    String said = tensorParallel("--ranks", "2", "--providers", "net");
    assertAgrees(said, "jofi", "star-sockets");

    Path raw = Files.writeString(folder.resolve("raw.txt"), said);
    Path picture = folder.resolve("picture.svg");
    String tables = run(Map.of(), "figures/Figures", picture.toString(), raw.toString());

    assertTrue(tables.contains("\n| 2 | jofi, net | "), tables);
    assertTrue(tables.contains("\n| inference | 2 | star, sockets | jofi, net | "), tables);
    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(picture.toFile());
    assertTrue(Files.readString(picture).contains(">jofi, net</text>"));
  }

  @Test
  void eachIsRunHere() throws IOException {
    Set<String> programs = new TreeSet<>();
    try (Stream<Path> files = Files.walk(EXAMPLES)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
        if (Files.readString(file).contains("void main(")) {
          programs.add(EXAMPLES.relativize(file).toString());
        }
      }
    }
    // Training needs jars that no build fetches: examples/training/run, which tests of the launcher
    // try without them.
    assertEquals(
        Set.of(
            "HaloExchange.java",
            "ReduceScatter.java",
            "ParameterServer.java",
            "GpuExchange.java",
            "figures/Figures.java",
            "inference/TensorParallel.java",
            "training/DataParallel.java"),
        programs);
  }
}
