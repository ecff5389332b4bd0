package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code jofi doctor}, as a user starts it. */
@Timeout(180)
class DoctorCommandTest {
  static final Set<String> CHECKS =
      Set.of(
          "kernel",
          "nic",
          "subnet",
          "shm-left",
          "gpu",
          "bar1",
          "peermem",
          "path",
          "acs",
          "iommu",
          "memlock",
          "open-files",
          "processes",
          "cgroup memory",
          "cgroup cpu",
          "shm",
          "hugepages",
          "fork",
          "libfabric",
          "mr-cache",
          "jvm");

  @TempDir private Path folder;

  /** The checks of a document, by their names. */
  static Map<String, JsonObject> checks(CommandProcess.Outcome outcome) {
    Map<String, JsonObject> checks = new HashMap<>();
    for (JsonElement element :
        JsonParser.parseString(outcome.out()).getAsJsonObject().getAsJsonArray("checks")) {
      JsonObject check = element.getAsJsonObject();
      checks.put(
          (check.get("check").getAsString() + " " + check.get("subject").getAsString()).strip(),
          check);
      assertTrue(
          Set.of("pass", "skip").contains(check.get("verdict").getAsString())
              || !check.get("remedy").getAsString().isEmpty(),
          check::toString);
    }
    return checks;
  }

  @Test
  void examinesThisMachine() throws IOException, InterruptedException {
    CommandProcess.Outcome text = CommandProcess.runHere("doctor");
    assertTrue(Set.of(ExitCode.OK, ExitCode.FAILED).contains(text.code()), text.err());
    for (String check : CHECKS) {
      assertTrue(
          text.out()
              .lines()
              .anyMatch(line -> line.matches("(pass|warn|fail|skip)  " + check + "\\b.*")),
          () -> check + " in " + text.out());
    }
    CommandProcess.Outcome json = CommandProcess.runHere("doctor", "--json");
    JsonObject document = JsonParser.parseString(json.out()).getAsJsonObject();
    assertTrue(document.get("live").getAsBoolean());
    assertEquals(document.get("failed").getAsInt() > 0 ? 1 : 0, json.code());
    Map<String, JsonObject> checks = checks(json);
    assertEquals("pass", checks.get("libfabric").get("verdict").getAsString());
    assertTrue(
        checks.get("libfabric shm").get("summary").getAsString().startsWith("domain scope"),
        checks::toString);
    assertTrue(checks.containsKey("jvm signals"), checks::toString);
  }

  @Test
  void drawsTheMatrix() throws IOException, InterruptedException {
    Path machine = folder.resolve("machine");
    device(machine, "pci0000:c9/0000:c9:02.0/0000:ca:00.0", "0x030200", "0x10de");
    Path nic = device(machine, "pci0000:c9/0000:c9:03.0/0000:cb:00.0", "0x020000", "0x15b3");
    Path rdma = Files.createDirectories(nic.resolve("infiniband/mlx5_0"));
    Path classes = Files.createDirectories(machine.resolve("sys/class/infiniband"));
    Files.createSymbolicLink(classes.resolve("mlx5_0"), classes.relativize(rdma));
    CommandProcess.Outcome outcome = CommandProcess.runHere("doctor", "--root", machine.toString());
    assertEquals(ExitCode.FAILED, outcome.code(), outcome.out() + outcome.err());
    for (String line :
        List.of(
            "      GPU0  NIC0  CPU Affinity  NUMA Affinity",
            "GPU0  X     PHB   0-7           N/A",
            "NIC0  PHB   X",
            "  NIC0 = mlx5_0")) {
      assertTrue(outcome.out().lines().anyMatch(line::equals), () -> line + " in " + outcome.out());
    }
    assertTrue(outcome.out().contains("=> sudo modprobe nvidia\n"), outcome.out());
  }

  private static Path device(Path machine, String path, String kind, String vendor)
      throws IOException {
    Path device = Files.createDirectories(machine.resolve("sys/devices").resolve(path));
    Files.writeString(device.resolve("class"), kind + "\n");
    Files.writeString(device.resolve("vendor"), vendor + "\n");
    Files.writeString(device.resolve("local_cpulist"), "0-7\n");
    Path devices = Files.createDirectories(machine.resolve("sys/bus/pci/devices"));
    Files.createSymbolicLink(devices.resolve(device.getFileName()), devices.relativize(device));
    return device;
  }

  @Test
  void aRootThatIsNoFolderIsWrongUsage() throws IOException, InterruptedException {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere("doctor", "--root", folder.resolve("absent").toString());
    assertEquals(ExitCode.USAGE, outcome.code());
    assertEquals("", outcome.out());
    assertTrue(outcome.err().contains("absent is no folder"), outcome.err());
    for (String root : List.of("", folder.toString())) {
      outcome = CommandProcess.runHere("doctor", "--root", root);
      assertEquals(ExitCode.USAGE, outcome.code());
      assertEquals("", outcome.out());
    }
    assertTrue(outcome.err().contains("is this a recording?"), outcome.err());
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }
}
