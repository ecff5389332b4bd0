package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jofi.verbsdouble.Option;
import org.jofi.verbsdouble.VerbsDouble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The commands on InfiniBand adapters without hardware, on which the real provider of libfabric
 * runs. What takes the rest of the time is in the full run.
 */
@Tag("verbs")
@Timeout(300)
class VerbsCommandTest {
  private static final String PROVIDER = "verbs;ofi_rxm";

  /** Requests after which an adapter fails amid a run: a third of what a fair share of it is. */
  private static final int AMID = 40;

  @TempDir private Path folder;

  private CommandProcess.Outcome run(VerbsDouble verbs, List<String> arguments) throws Exception {
    return CommandProcess.run(folder, verbs.environment(), arguments.toArray(String[]::new));
  }

  private static List<String> allReduce(VerbsDouble verbs, String sizes, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "allreduce",
                "--json",
                "-p",
                PROVIDER,
                "-d",
                String.join(",", verbs.domains()),
                "-s",
                sizes,
                "--prepare",
                "0"));
    arguments.addAll(List.of(more));
    return arguments;
  }

  private void assertExact(VerbsDouble verbs, int rows, List<String> arguments) throws Exception {
    CommandProcess.Outcome outcome = run(verbs, arguments);
    assertEquals(0, outcome.code(), () -> outcome.err() + outcome.out());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals(0, document.get("errors").getAsLong(), outcome.out());
    assertEquals(rows, document.getAsJsonArray("results").size(), outcome.out());
    assertEquals(
        verbs.domains().size(), document.getAsJsonArray("rails").size(), document.toString());
    verbs.demandNoViolations();
  }

  @Test
  void sumsAreExact() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(1)) {
      assertExact(verbs, 2, allReduce(verbs, "4,64K", "-w", "0", "-k", "1"));
    }
  }

  /** Receivers that are not ready, packets that get lost, all of it late. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  @Tag("long")
  void sumsAreExactOverMoreRails(int rails) throws Exception {
    try (VerbsDouble verbs =
        VerbsDouble.devices(rails)
            .with(Option.SEED, 5)
            .with(Option.RNR, 10)
            .with(Option.LOSS, 3)
            .with(Option.DELAY_US, 100)) {
      assertExact(verbs, 3, allReduce(verbs, "4,64K,1M", "-w", "1", "-k", "3"));
    }
  }

  @Test
  @Tag("long")
  void infoListsTheAdapters() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(4)) {
      CommandProcess.Outcome outcome = run(verbs, List.of("info", "-p", PROVIDER));
      assertEquals(0, outcome.code(), () -> outcome.err() + outcome.out());
      for (String domain : verbs.domains()) {
        assertTrue(outcome.out().contains(domain), outcome.out());
      }
      verbs.demandNoViolations();
    }
  }

  /** An adapter that fails amid the run ends it in time: right on the other, or with its cause. */
  @ParameterizedTest
  @ValueSource(strings = {"silent", "error"})
  @Tag("long")
  void aRailThatDiesEndsInTime(String how) throws Exception {
    try (VerbsDouble verbs =
        VerbsDouble.devices(2)
            .with(Option.FAULT, "1:%s:%d".formatted(how, AMID))
            .with(Option.TRACE, 1)) {
      CommandProcess.Outcome outcome =
          run(verbs, allReduce(verbs, "1M", "-w", "1", "-k", "30", "--timeout", "15"));
      String told =
          outcome
              .err()
              .lines()
              .filter(line -> !line.startsWith("verbs-double["))
              .collect(Collectors.joining("\n"));
      System.out.printf("%s: exit code %d%n%s%n", how, outcome.code(), told);
      assertTrue(outcome.err().contains("has its fault after " + AMID), told);
      if (outcome.code() == 0) {
        JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
        assertEquals(0, document.get("errors").getAsLong(), outcome.out());
      } else {
        assertEquals(1, outcome.code(), outcome.err());
        assertTrue(outcome.err().contains("rank "), outcome.err());
      }
      verbs.demandNoViolations();
    }
  }
}
