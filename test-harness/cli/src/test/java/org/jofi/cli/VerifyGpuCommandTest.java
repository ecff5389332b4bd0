package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.FabricUnavailableException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifyGpuCommandTest {
  @TempDir private Path folder;

  @BeforeEach
  void needsLibfabric() {
    String reason = "";
    try {
      FabricProvider.named("libfabric").version();
    } catch (FabricUnavailableException e) {
      reason = String.valueOf(e.getMessage());
    }
    assumeTrue(reason.isEmpty(), reason);
  }

  private CommandProcess.Outcome run(String... arguments) throws Exception {
    return run(Path.of(folder + "/none"), arguments);
  }

  private CommandProcess.Outcome run(Path driver, String... arguments) throws Exception {
    String[] all = new String[arguments.length + 1];
    all[0] = "verify-gpu";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    return CommandProcess.run(folder, Map.of("JOFI_CUDA", driver.toString()), all);
  }

  @Test
  void withoutAGpuItVerifiesHostMemoryAndSaysSo() throws Exception {
    CommandProcess.Outcome outcome = run("--provider", "tcp", "--bytes", "3M");
    assertEquals(0, outcome.code(), outcome::toString);
    assertTrue(
        outcome.out().contains("host memory, since there is no GPU: no CUDA driver"),
        outcome.out());
    assertTrue(
        outcome.out().endsWith("every byte arrived in host memory; no GPU was tried\n"),
        outcome.out());
  }

  @Test
  void jsonHasEachMessage() throws Exception {
    CommandProcess.Outcome outcome =
        run("--provider", "tcp", "--bytes", "1", "--rounds", "2", "--json", "--memory", "host");
    assertEquals(0, outcome.code(), outcome::toString);
    JsonObject report = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertTrue(report.get("arrived").getAsBoolean());
    assertEquals("host memory, as asked for", report.get("note").getAsString());
    assertEquals(2, report.getAsJsonArray("messages").size());
    assertEquals(
        "none",
        report.getAsJsonArray("messages").get(1).getAsJsonObject().get("fault").getAsString());
  }

  @Test
  void memoryThatIsAllocatedAnewIsRegisteredAnew() throws Exception {
    Path driver = CudaStandIn.build(folder);
    for (String memory : new String[] {"host", "cuda"}) {
      CommandProcess.Outcome outcome =
          run(
              driver,
              ("--provider tcp --bytes 3M --rounds 20 --reallocate --json --memory " + memory)
                  .split(" "));
      assertEquals(0, outcome.code(), outcome::toString);
      JsonObject report = JsonParser.parseString(outcome.out()).getAsJsonObject();
      assertEquals(20, report.getAsJsonArray("messages").size());
      assertEquals(19, report.get("reallocated").getAsInt());
      assertTrue(report.get("sameAddress").getAsInt() > 0, outcome.out());
      if (memory.equals("host")) {
        // The source, and each target.
        assertTrue(
            report.getAsJsonObject("registrationCache").get("misses").getAsInt() >= 21,
            outcome.out());
      }
    }
  }

  @Test
  void demandingAGpuWhereThereIsNoneIsRefused() throws Exception {
    assumeTrue(!Files.exists(Path.of("/dev/nvidiactl")), "there is a GPU");
    CommandProcess.Outcome outcome = run("--provider", "tcp", "--memory", "cuda");
    assertEquals(3, outcome.code(), outcome::toString);
    assertTrue(outcome.err().contains("no CUDA driver"), outcome.err());
    outcome = run("--provider", "tcp", "--gpu", "0");
    assertEquals(3, outcome.code(), outcome::toString);
    assertEquals("", outcome.out());
  }

  @Test
  void badArgumentsAreUsage() throws Exception {
    for (String[] bad :
        new String[][] {
          {"--bytes", "0"},
          {"--bytes", "2G"},
          {"--rails", "9"},
          {"--gpu", "0", "--memory", "host"},
          {"--rounds", "0"},
          {"--gpu", "-1"},
          {"--memory", "x"},
          {"--memory", "host", "--require-gpu-direct"},
          {"-p", "sim:cxi"}
        }) {
      CommandProcess.Outcome outcome = run(bad);
      assertEquals(2, outcome.code(), outcome::toString);
    }
  }
}
