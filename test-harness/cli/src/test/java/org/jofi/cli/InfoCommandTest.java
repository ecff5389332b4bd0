package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code jofi info}, as a user starts it. */
@Timeout(180)
class InfoCommandTest {
  @TempDir private Path folder;

  private static JsonArray nics(CommandProcess.Outcome outcome) {
    return JsonParser.parseString(outcome.out()).getAsJsonObject().getAsJsonArray("nics");
  }

  @Test
  void listsEachNicOnce() throws IOException, InterruptedException {
    CommandProcess.Outcome table = CommandProcess.runHere("info");
    assertEquals(0, table.code(), table.err());
    assertTrue(table.out().startsWith("libfabric "), table.out());
    for (String column : List.of("PROVIDER", "MR SCOPE", "MR MODE", "KEYS", "ADDRESSING", "JOFI")) {
      assertTrue(table.out().contains(column), table.out());
    }
    Set<String> seen = new HashSet<>();
    for (JsonElement element : nics(CommandProcess.runHere("info", "--json"))) {
      JsonObject nic = element.getAsJsonObject();
      String name = nic.get("provider").getAsString() + " " + nic.get("domain").getAsString();
      assertTrue(seen.add(name), name + " is listed twice");
      assertTrue(table.out().contains(nic.get("provider").getAsString()), name);
      if (List.of("shm", "sockets", "net", "tcp").contains(nic.get("provider").getAsString())) {
        assertEquals("domain", nic.get("mrScope").getAsString(), name);
      }
      assertEquals(nic.getAsJsonArray("lacks").isEmpty(), nic.get("runsJofi").getAsBoolean(), name);
    }
    assertTrue(seen.contains("shm shm"), seen::toString);
    assertTrue(seen.contains("sockets lo"), seen::toString);
  }

  @Test
  void takesLayeredProviders() throws IOException, InterruptedException {
    JsonArray nics = nics(CommandProcess.runHere("info", "--json", "--provider", "tcp;ofi_rxm"));
    assertFalse(nics.isEmpty());
    for (JsonElement nic : nics) {
      assertEquals("tcp;ofi_rxm", nic.getAsJsonObject().get("provider").getAsString());
    }
  }

  @Test
  void listsDevicesAndWhy() throws IOException, InterruptedException {
    CommandProcess.Outcome text = CommandProcess.runHere("info", "--devices", "--provider", "shm");
    assertEquals(0, text.code(), text.err());
    assertTrue(text.out().contains("device 0: shm, shm"), text.out());
    assertTrue(text.out().contains("grouped because"), text.out());
    CommandProcess.Outcome json =
        CommandProcess.runHere("info", "--devices", "--json", "-p", "sim:cxi");
    assertEquals(0, json.code(), json.err());
    JsonArray devices =
        JsonParser.parseString(json.out()).getAsJsonObject().getAsJsonArray("devices");
    assertFalse(devices.isEmpty());
    for (JsonElement element : devices) {
      JsonObject device = element.getAsJsonObject();
      assertEquals("endpoint", device.get("mrScope").getAsString());
      assertFalse(device.getAsJsonArray("rails").isEmpty());
      assertFalse(device.getAsJsonArray("groupingReasons").isEmpty());
      assertTrue(device.get("receivesInFlight").getAsInt() >= 1);
    }
    CommandProcess.Outcome unknown =
        CommandProcess.runHere("info", "--devices", "-p", "sim:nosuch");
    assertEquals(ExitCode.USAGE, unknown.code());
    assertTrue(unknown.err().contains("cxi-client-key"), unknown.err());
  }

  @Test
  void anUnknownProviderNamesTheKnown() throws IOException, InterruptedException {
    CommandProcess.Outcome outcome = CommandProcess.runHere("info", "--provider", "nosuch");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code());
    assertEquals("", outcome.out());
    assertTrue(outcome.err().contains("'nosuch'"), outcome.err());
    assertTrue(outcome.err().contains("shm"), outcome.err());
    outcome = CommandProcess.runHere("info", "--provider", "sim:cxi");
    assertEquals(ExitCode.USAGE, outcome.code());
    assertTrue(outcome.err().contains("jofi info --devices -p sim:cxi"), outcome.err());
  }

  @Test
  void wrongUsageSaysWhat() throws IOException, InterruptedException {
    CommandProcess.Outcome outcome = CommandProcess.runHere("info", "--nosuch");
    assertEquals(ExitCode.USAGE, outcome.code());
    assertTrue(outcome.err().contains("--nosuch"), outcome.err());
    outcome = CommandProcess.runHere("info", "--fabric-provider", "nosuch");
    assertEquals(ExitCode.USAGE, outcome.code());
    assertTrue(outcome.err().contains("installed: ["), outcome.err());
  }

  @Test
  void anExternalProviderWithEndpointScope() throws IOException, InterruptedException {
    Path library = folder.resolve("libjofitest-fi.so");
    compile(library);
    List<CommandProcess.Outcome> both =
        CommandProcess.runInTurn(
            folder,
            Map.of("FI_PROVIDER_PATH", folder.toString()),
            "info --json --provider jofi_test",
            "info -p jofi_test");
    CommandProcess.Outcome outcome = both.getFirst();
    assertEquals(0, outcome.code(), outcome.err());
    assertEquals(1, nics(outcome).size(), outcome.out());
    JsonObject nic = nics(outcome).get(0).getAsJsonObject();
    assertEquals("endpoint", nic.get("mrScope").getAsString());
    assertEquals("provider", nic.get("keyOwner").getAsString());
    assertEquals("offset", nic.get("addressing").getAsString());
    assertEquals("0001:c1:02.3", nic.get("pciAddress").getAsString());
    assertEquals(200_000_000_000L, nic.get("linkSpeedBitsPerSecond").getAsLong());
    assertEquals("1.2.3", nic.get("firmware").getAsString());
    assertEquals("4.2", nic.get("providerVersion").getAsString());
    assertFalse(nic.get("runsJofi").getAsBoolean());
    assertTrue(nic.get("lacks").toString().contains("cq_data_size"), nic::toString);
    CommandProcess.Outcome table = both.getLast();
    assertTrue(table.out().contains("200 Gbit/s"), table.out());
    assertTrue(table.out().contains("cannot run: immediate data of 2 bytes"), table.out());
  }

  private void compile(Path library) throws IOException, InterruptedException {
    boolean possible =
        Files.exists(Path.of("/usr/include/rdma/providers/fi_prov.h"))
            && Files.exists(Path.of("/usr/bin/gcc"));
    if (System.getenv("CI") == null) {
      assumeTrue(possible, "needs gcc and libfabric-dev: apt-get install gcc libfabric-dev");
    }
    Process gcc =
        new ProcessBuilder(
                "gcc",
                "-shared",
                "-fPIC",
                "-Wall",
                "-Werror",
                "-o",
                library.toString(),
                "src/test/c/external_provider.c",
                "-l:libfabric.so.1")
            .inheritIO()
            .start();
    assertTrue(gcc.waitFor(60, TimeUnit.SECONDS), "gcc hangs");
    assertEquals(0, gcc.exitValue(), "gcc failed");
  }
}
