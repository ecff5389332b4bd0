package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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

  private String run(Map<String, String> environment, String program, String provider)
      throws IOException, InterruptedException {
    CommandProcess.Outcome outcome =
        CommandProcess.run(
            folder,
            CommandProcess.program(environment, EXAMPLES.resolve(program + ".java"), provider));
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
  void eachIsRunHere() throws IOException {
    try (Stream<Path> files = Files.list(EXAMPLES)) {
      Set<String> programs =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".java"))
              .collect(Collectors.toSet());
      assertEquals(
          Set.of(
              "HaloExchange.java",
              "ReduceScatter.java",
              "ParameterServer.java",
              "GpuExchange.java"),
          programs);
    }
  }
}
