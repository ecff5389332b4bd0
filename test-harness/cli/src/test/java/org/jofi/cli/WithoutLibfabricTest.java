package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The commands where there is no libfabric, or another than the user named. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class WithoutLibfabricTest {
  @TempDir private Path folder;

  @BeforeAll
  static void needsTheUsualLibrary() {
    assumeTrue(
        System.getProperty("jofi.libfabric", "").isEmpty(),
        "the library under test is named by a property, which comes first");
  }

  private static void assertMissing(CommandProcess.Outcome outcome, String words) {
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertEquals("", outcome.out());
    assertTrue(outcome.err().contains(words), outcome.err());
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }

  private static void assertSimulates(CommandProcess.Outcome outcome) {
    assertEquals(0, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("libfabric could not be loaded"), outcome.err());
    assertTrue(outcome.err().contains("Going on with the simulated fabric"), outcome.err());
  }

  @Test
  void whatCanIsSimulatedAndTheRestSaysWhatIsMissing() throws Exception {
    Map<String, String> environment = new HashMap<>(CommandProcess.withoutLibfabric(folder));
    environment.put("JOFI_CUDA", CudaStandIn.build(folder).toString());
    List<CommandProcess.Outcome> outcomes =
        CommandProcess.runInTurn(
            folder,
            environment,
            "allreduce -s 4K -k 1",
            "allreduce --memory cuda -s 4K -k 2",
            "allreduce -p shm -s 4K -k 1",
            "perf --listen --timeout 1",
            "soak");
    assertSimulates(outcomes.get(0));
    assertSimulates(outcomes.get(1));
    assertTrue(
        outcomes.get(1).out().contains("; staged through pinned host memory"),
        outcomes.get(1).out());
    // A provider that was asked for is not replaced.
    assertMissing(outcomes.get(2), "libfabric");
    assertMissing(outcomes.get(3), "apt-get install");
    assertFalse(outcomes.get(3).err().contains("listening"), outcomes.get(3).err());
    assertMissing(outcomes.get(4), "libfabric");
  }

  @Test
  void aPlacedRankSaysWhatIsMissing() throws Exception {
    Map<String, String> environment = new HashMap<>(CommandProcess.withoutLibfabric(folder));
    environment.putAll(Map.of("RANK", "0", "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1"));
    CommandProcess.Outcome outcome =
        CommandProcess.run(folder, environment, "allreduce", "--ranks", "4");
    assertMissing(outcome, "apt-get install");
    assertTrue(
        outcome
            .err()
            .startsWith(
                "placed by a script (RANK, WORLD_SIZE) as rank 0 of 2; unset them to start ranks"
                    + " here; --ranks 4 is ignored"),
        outcome.err());
  }

  @Test
  void aLibraryThatIsNamedAndDoesNotLoadIsNotReplaced() throws Exception {
    Path root = Files.createDirectories(folder.resolve("machine/sys")).getParent();
    List<CommandProcess.Outcome> outcomes =
        CommandProcess.runInTurn(
            folder,
            Map.of("JOFI_LIBFABRIC", "/absent/libfabric.so.1"),
            "allreduce -s 4K -k 1",
            "info",
            "doctor --json",
            "doctor --json --root " + root);
    for (CommandProcess.Outcome outcome : outcomes.subList(0, 2)) {
      assertMissing(outcome, "/absent/libfabric.so.1: no such file");
    }
    assertTrue(outcomes.get(1).err().contains("Install it"), outcomes.get(1).err());
    assertIsOneFindingOfMany(outcomes.get(2));
    assertReadsAnotherRootAllTheSame(outcomes.get(3));
  }

  private static Map<String, JsonObject> checks(CommandProcess.Outcome outcome) {
    return DoctorCommandTest.checks(outcome);
  }

  private static void assertIsOneFindingOfMany(CommandProcess.Outcome doctor) {
    assertEquals(ExitCode.FAILED, doctor.code(), doctor.err());
    JsonObject libfabric = checks(doctor).get("libfabric");
    assertEquals("fail", libfabric.get("verdict").getAsString());
    assertTrue(libfabric.get("summary").getAsString().contains("/absent/libfabric.so.1"));
    assertTrue(libfabric.get("remedy").getAsString().contains("apt-get install"));
  }

  private static void assertReadsAnotherRootAllTheSame(CommandProcess.Outcome doctor) {
    assertEquals(ExitCode.OK, doctor.code(), doctor.err());
    Map<String, JsonObject> checks = checks(doctor);
    for (String check : List.of("libfabric", "mr-cache", "jvm")) {
      assertEquals("skip", checks.get(check).get("verdict").getAsString());
      assertTrue(checks.get(check).get("summary").getAsString().startsWith("not read"));
    }
    assertTrue(checks.keySet().containsAll(DoctorCommandTest.CHECKS), checks::toString);
  }
}
