package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

  private Map<String, String> driver(Path file) {
    return Map.of("JOFI_CUDA", file.toString());
  }

  @Test
  void withoutAGpuItVerifiesHostMemoryAndSaysSo() throws Exception {
    List<CommandProcess.Outcome> outcomes =
        CommandProcess.runInTurn(
            folder,
            driver(folder.resolve("none")),
            "verify-gpu --provider tcp --bytes 3M",
            "verify-gpu --provider tcp --bytes 1 --rounds 2 --json --memory host");
    CommandProcess.Outcome table = outcomes.getFirst();
    assertEquals(0, table.code(), table::toString);
    assertTrue(
        table.out().contains("host memory, since there is no GPU: no CUDA driver"), table.out());
    assertTrue(
        table.out().endsWith("every byte arrived in host memory; no GPU was tried\n"), table.out());
    assertHasEachMessage(outcomes.getLast());
  }

  private static void assertHasEachMessage(CommandProcess.Outcome json) {
    assertEquals(0, json.code(), json::toString);
    JsonObject report = JsonParser.parseString(json.out()).getAsJsonObject();
    assertTrue(report.get("arrived").getAsBoolean());
    assertEquals("host memory, as asked for", report.get("note").getAsString());
    assertEquals(2, report.getAsJsonArray("messages").size());
    assertEquals(
        "none",
        report.getAsJsonArray("messages").get(1).getAsJsonObject().get("fault").getAsString());
  }

  @Test
  void memoryThatIsAllocatedAnewIsRegisteredAnew() throws Exception {
    String words = "verify-gpu --provider tcp --bytes 3M --rounds 8 --reallocate --json --memory ";
    List<CommandProcess.Outcome> outcomes =
        CommandProcess.runInTurn(
            folder, driver(CudaStandIn.build(folder)), words + "host", words + "cuda");
    for (CommandProcess.Outcome outcome : outcomes) {
      assertEquals(0, outcome.code(), outcome::toString);
      JsonObject report = JsonParser.parseString(outcome.out()).getAsJsonObject();
      assertEquals(8, report.getAsJsonArray("messages").size());
      assertEquals(7, report.get("reallocated").getAsInt());
      assertTrue(report.get("sameAddress").getAsInt() > 0, outcome.out());
    }
    // The source, and each target.
    JsonObject host = JsonParser.parseString(outcomes.getFirst().out()).getAsJsonObject();
    assertTrue(
        host.getAsJsonObject("registrationCache").get("misses").getAsInt() >= 9, host::toString);
  }

  @Test
  void demandingAGpuWhereThereIsNoneIsRefused() throws Exception {
    assumeTrue(!Files.exists(Path.of("/dev/nvidiactl")), "there is a GPU");
    List<CommandProcess.Outcome> outcomes =
        CommandProcess.runInTurn(
            folder,
            driver(folder.resolve("none")),
            "verify-gpu --provider tcp --memory cuda",
            "verify-gpu --provider tcp --gpu 0");
    for (CommandProcess.Outcome outcome : outcomes) {
      assertEquals(3, outcome.code(), outcome::toString);
      assertEquals("", outcome.out());
      assertTrue(outcome.err().contains("no CUDA driver"), outcome.err());
    }
  }

  @Test
  void badArgumentsAreUsage() {
    for (String bad :
        List.of(
            "--bytes 0",
            "--bytes 2G",
            "--rails 9",
            "--gpu 0 --memory host",
            "--rounds 0",
            "--gpu -1",
            "--memory x",
            "--memory host --require-gpu-direct",
            "-p sim:cxi")) {
      CommandProcess.Outcome outcome = CommandProcess.runHere(("verify-gpu " + bad).split(" "));
      assertEquals(2, outcome.code(), outcome::toString);
    }
  }
}
