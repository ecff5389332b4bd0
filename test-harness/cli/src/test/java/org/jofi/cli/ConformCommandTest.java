package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ConformCommandTest {
  @TempDir private Path folder;

  private static CommandProcess.Outcome conform(String... arguments) {
    String[] all = new String[arguments.length + 1];
    all[0] = "conform";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    return CommandProcess.runHere(all);
  }

  @Test
  void aCleanAreaEndsWithZeroAndATable() throws Exception {
    CommandProcess.Outcome outcome = conform("--provider", "sim:efa", "--filter", "keys");
    assertEquals(0, outcome.code(), outcome.err() + outcome.out());
    assertTrue(
        outcome.out().lines().anyMatch(line -> line.matches("keys and addressing +\\d+ +0 +\\d+")),
        outcome.out());
    assertTrue(outcome.out().contains("chooses keys itself: FI_MR_PROV_KEY"), outcome.out());
    assertTrue(outcome.out().endsWith("\n5 kept, 0 broken, 4 not claimed\n"), outcome.out());
  }

  /** On a provider that does break a rule, in the versions of libfabric that were examined. */
  @Test
  void whatIsKnownOfExactlyThisVersionEndsWithOneOnlyIfStrict() throws Exception {
    for (boolean strict : new boolean[] {false, true}) {
      CommandProcess.Outcome outcome =
          strict
              ? conform("-p", "shm", "--filter", "errors/bad-key-write", "--strict")
              : conform("-p", "shm", "--filter", "errors/bad-key-write");
      String last = outcome.out().lines().reduce("", (before, line) -> line);
      boolean examined = outcome.out().matches("(?s)shm, libfabric (1\\.17|2\\.1) .*");
      assertTrue(
          last.matches(
              examined
                  ? "0 kept, 1 broken \\(1 known of shm [12]\\.\\d+: errors/bad-key-write\\), 0 not"
                      + " claimed"
                  : "[01] kept, [01] broken( \\(none known of shm .*\\))?, 0 not claimed"),
          outcome.out());
      assertEquals(
          strict || !examined ? Integer.parseInt(last.replaceAll(".* (\\d) broken.*", "$1")) : 0,
          outcome.code(),
          outcome.err() + outcome.out());
    }
  }

  @Test
  void jsonXmlAndMarkdownTellTheSame() throws Exception {
    Path xml = folder.resolve("results.xml");
    Path markdown = folder.resolve("results.md");
    CommandProcess.Outcome outcome =
        conform(
            "--provider",
            "sim:tcp",
            "--filter",
            "cancel",
            "--filter",
            "rma/read",
            "--json",
            "--junit-xml",
            xml.toString(),
            "--markdown",
            markdown.toString());
    assertEquals(0, outcome.code(), outcome.err() + outcome.out());
    JsonObject report = JsonParser.parseString(outcome.out()).getAsJsonObject();
    int kept = report.get("kept").getAsInt();
    assertEquals(0, report.get("broken").getAsInt());
    assertTrue(kept > 1, outcome.out());
    assertEquals(kept + report.get("notClaimed").getAsInt(), report.getAsJsonArray("cases").size());
    assertEquals(kept + " kept, 0 broken, 0 not claimed", report.get("summary").getAsString());
    assertTrue(Files.readString(xml).contains("tests=\"" + kept + "\""), Files.readString(xml));
    assertTrue(
        Files.readString(markdown).contains("| **all** | " + kept + " | 0 | 0 |"),
        Files.readString(markdown));
  }

  @Test
  void aFileThatCannotBeWrittenIsToldBeforeTheRun() throws Exception {
    for (String option : java.util.List.of("--junit-xml", "--markdown")) {
      String file = folder.resolve("absent/results").toString();
      CommandProcess.Outcome outcome = conform("--provider", "sim:efa", option, file);
      assertEquals(ExitCode.USAGE, outcome.code(), outcome.err());
      assertEquals("", outcome.out());
      assertTrue(
          outcome.err().startsWith(option + " " + file + " cannot be written"), outcome.err());
    }
  }

  @Test
  void anUnknownDomainNamesTheKnown() throws Exception {
    CommandProcess.Outcome outcome = conform("--provider", "shm", "--domain", "nosuch");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("no domain 'nosuch' here; it has shm"), outcome.err());
  }

  @Test
  void casesAreListedWithTheirRules() throws Exception {
    CommandProcess.Outcome outcome = conform("--list", "--filter", "immediate");
    assertEquals(0, outcome.code(), outcome.err());
    assertTrue(outcome.out().contains("immediate/implies-data"), outcome.out());
    assertTrue(outcome.out().contains("fi_rma(3), fi_writedata"), outcome.out());
  }

  @Test
  void wrongUsageIsToldFromWhatIsMissing() throws Exception {
    CommandProcess.Outcome area = conform("--provider", "sim:efa", "--filter", "no-such-area");
    assertEquals(2, area.code(), area.err());
    assertTrue(area.err().contains("no area named 'no-such-area'"), area.err());
    assertEquals(2, conform().code());
    CommandProcess.Outcome profile = conform("--provider", "sim:none");
    assertEquals(3, profile.code(), profile.err());
    assertTrue(profile.err().contains("cxi-client-key"), profile.err());
    CommandProcess.Outcome missing = conform("--provider", "no-such-provider");
    assertEquals(3, missing.code(), missing.err());
    assertTrue(missing.err().contains("no-such-provider"), missing.err());
  }
}
