package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jofi.cli.CommandProcess.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counters of another process, while it runs, while it is killed, and when it is dead. */
class StatCommandTest {
  private static final int LOOKS_WHILE_KILLED = 40;

  @TempDir private Path temporary;

  private Outcome stat(Path folder, String... arguments) {
    String[] all = new String[arguments.length + 3];
    all[0] = "stat";
    all[1] = "--folder";
    all[2] = folder.toString();
    System.arraycopy(arguments, 0, all, 3, arguments.length);
    return CommandProcess.runHere(all);
  }

  private static JsonArray processes(Outcome json) {
    assertEquals(0, json.code(), json.err());
    return JsonParser.parseString(json.out()).getAsJsonArray();
  }

  private static long value(JsonObject process, String name) {
    long sum = 0;
    for (JsonElement each : process.getAsJsonArray("counters")) {
      JsonObject counter = each.getAsJsonObject();
      if (counter.get("name").getAsString().equals(name)) {
        sum += counter.get("value").getAsLong();
      }
    }
    return sum;
  }

  @Test
  void aProcessIsSeenAliveKilledAndDead() throws IOException, InterruptedException {
    Path folder = temporary.resolve("counters");
    ProcessBuilder builder = CommandProcess.builder(Map.of("JOFI_COUNTERS", folder.toString()));
    builder
        .command()
        .replaceAll(
            word -> word.equals(Jofi.class.getName()) ? StatTrafficMain.class.getName() : word);
    Process process = builder.redirectError(temporary.resolve("err").toFile()).start();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      String line = out.readLine();
      assertEquals("counts", line, () -> err());
      String pid = Long.toString(process.pid());

      JsonObject first = processes(stat(folder, "--json")).get(0).getAsJsonObject();
      assertEquals(process.pid(), first.get("pid").getAsLong());
      assertEquals("running", first.get("state").getAsString());
      long sent = value(first, "messages.sent");
      assertTrue(sent > 20, first.toString());
      assertTrue(value(first, "bytes.sent") >= 2048 * sent, first.toString());
      assertTrue(value(first, "failed.truncated") > 0, first.toString());
      assertTrue(
          first.getAsJsonArray("errors").toString().contains("200000 bytes"), first.toString());

      Outcome rates = stat(folder, pid, "--watch", "300ms", "--times", "2");
      assertEquals(0, rates.code(), rates.err());
      assertTrue(rates.out().contains("running, heartbeat"), rates.out());
      assertTrue(rates.out().matches("(?s).*efa0 +[1-9][0-9]*/s .*"), rates.out());
      Outcome text = stat(folder, "--prometheus");
      assertTrue(
          text.out().contains("# TYPE jofi_messages_sent_total counter\n")
              && text.out()
                  .matches(
                      "(?s).*\njofi_messages_sent_total\\{pid=\""
                          + pid
                          + "\",.*device=\".*\"} [1-9].*")
              && text.out()
                  .contains("jofi_up{pid=\"" + pid + "\",file=\"" + pid + "-1.counters\"} 1\n"),
          text.out());
      Outcome census = stat(folder, pid, "--dump");
      assertTrue(
          census.out().contains("connections.open") && census.out().contains("rail 0"),
          census.out());
      assertTrue(stat(folder, "--errors").out().contains("message longer than its receive"));
      assertEquals("0 file(s) of dead processes removed\n", stat(folder, "--clean").out());
      nobodyElseReads(folder);

      for (int look = 0; look < LOOKS_WHILE_KILLED; look++) {
        if (look == LOOKS_WHILE_KILLED / 2) {
          process.destroyForcibly();
        }
        JsonObject seen = processes(stat(folder, "--json")).get(0).getAsJsonObject();
        assertTrue(value(seen, "messages.sent") >= sent, seen.toString());
        sent = value(seen, "messages.sent");
      }
      assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    } finally {
      process.destroyForcibly();
    }
    JsonObject dead = processes(stat(folder, "--json")).get(0).getAsJsonObject();
    assertEquals("dead", dead.get("state").getAsString());
    assertTrue(stat(folder).out().contains("DEAD since 2"));
    String text = stat(folder, "--prometheus").out();
    assertTrue(text.contains("} 0\n") && !text.contains("jofi_messages_sent_total"), text);
    assertTrue(stat(folder, "--clean").out().endsWith("1 file(s) of dead processes removed\n"));
    assertEquals(List.of(), List.of(folder.toFile().list()));
    assertEquals("[]\n", stat(folder, "--json").out());
  }

  private String err() {
    try {
      return Files.readString(temporary.resolve("err"));
    } catch (IOException none) {
      return none.toString();
    }
  }

  /** As root: who is nobody cannot read them. */
  private void nobodyElseReads(Path folder) throws IOException, InterruptedException {
    if (!"root".equals(System.getProperty("user.name"))) {
      System.err.println("not tried as another user: that needs root");
      return;
    }
    // The folder alone is to keep others out, not that of the test.
    Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path file;
    try (Stream<Path> files = Files.list(folder)) {
      file = files.filter(each -> each.toString().endsWith(".counters")).findFirst().orElseThrow();
    }
    Process other =
        new ProcessBuilder(
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "cat",
                file.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertNotEquals(0, other.waitFor());
    assertTrue(said.contains("Permission denied"), said);
  }

  @Test
  void wrongUsageAndFilesThatAreNone() throws IOException {
    Path folder = Files.createDirectory(temporary.resolve("some"));
    assertEquals(ExitCode.USAGE, stat(folder, "--times", "2").code());
    assertEquals(ExitCode.USAGE, stat(folder, "--watch", "5ms").code());
    assertEquals(ExitCode.USAGE, stat(folder, "--watch", "1s", "--clean").code());
    assertEquals(ExitCode.USAGE, stat(folder, "--json", "--errors").code());
    assertEquals(ExitCode.USAGE, stat(folder, "nosuch").code());
    assertEquals(ExitCode.USAGE, stat(folder.resolve("none")).code());
    assertEquals(ExitCode.ENVIRONMENT, stat(folder, "4711").code());
    Outcome none = stat(folder);
    assertEquals(0, none.code());
    assertTrue(none.out().startsWith("no process"), none.out());
    Path foreign = Files.writeString(folder.resolve("1-1.counters"), "no counters");
    Outcome refused = stat(folder);
    assertEquals(ExitCode.FAILED, refused.code());
    assertTrue(refused.err().contains(foreign + " has no counters"), refused.err());
    Outcome kept = stat(folder, "--clean");
    assertEquals(ExitCode.FAILED, kept.code());
    assertTrue(Files.exists(foreign) && kept.err().contains("lock"), kept.err());
    assertFalse(stat(folder, "--help").out().isEmpty());
  }
}
