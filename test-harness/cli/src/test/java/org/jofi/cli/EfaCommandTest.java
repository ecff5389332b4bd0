package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.efadouble.EfaDouble;
import org.jofi.efadouble.Option;
import org.jofi.fabric.FabricProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands on EFA devices without hardware, on which the real provider of libfabric runs. */
@Tag("efa")
@Timeout(300)
class EfaCommandTest {
  /** One element, several packets, and what is longer than a chunk. */
  private static final String SIZES = "4,64K,1M";

  /**
   * Requests after which a device fails amid a run. One that is slow while the machine is busy is
   * given less, so this is a third of what a fair share of the run is.
   */
  private static final int AMID = 40;

  private static final String ROUNDS = "3";

  @TempDir private Path folder;

  private CommandProcess.Outcome run(EfaDouble efa, List<String> arguments) throws Exception {
    return CommandProcess.run(folder, efa.environment(), arguments.toArray(String[]::new));
  }

  private static List<String> allReduce(String provider, EfaDouble efa, String sizes) {
    return new ArrayList<>(
        List.of(
            "allreduce",
            "--json",
            "-p",
            provider,
            "-d",
            String.join(",", efa.domains()),
            "-s",
            sizes,
            "-w",
            "1",
            "--prepare",
            "0.1"));
  }

  private void assertExact(String provider, EfaDouble efa) throws Exception {
    List<String> arguments = allReduce(provider, efa, SIZES);
    arguments.addAll(List.of("-k", ROUNDS));
    JsonObject document = exact(efa, arguments, 3);
    assertEquals(
        efa.domains().size(), document.getAsJsonArray("rails").size(), document.toString());
  }

  /** What a command printed that found no error in so many rows. */
  private JsonObject exact(EfaDouble efa, List<String> arguments, int rows) throws Exception {
    CommandProcess.Outcome outcome = run(efa, arguments);
    assertEquals(0, outcome.code(), () -> outcome.err() + outcome.out());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals(0, document.get("errors").getAsLong(), outcome.out());
    assertEquals(rows, document.getAsJsonArray("results").size(), outcome.out());
    efa.demandNoViolations();
    return document;
  }

  @Test
  void sumsAreExact() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(2)) {
      assertExact("efa", efa);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  @Tag("long")
  void sumsAreExactOverFewerAndMoreRails(int rails) throws Exception {
    try (EfaDouble efa = EfaDouble.devices(rails)) {
      assertExact("efa", efa);
    }
  }

  static Stream<Arguments> otherDevices() {
    return Stream.of("send", "read", "write")
        .flatMap(
            generation ->
                Stream.of(0, 300).map(delayMicros -> Arguments.of(generation, delayMicros)));
  }

  /** Each generation of devices, in order and with requests that overtake each other. */
  @ParameterizedTest(name = "{0}, delays up to {1} us")
  @MethodSource("otherDevices")
  @Tag("long")
  void sumsAreExactOnOtherDevices(String generation, int delayMicros) throws Exception {
    try (EfaDouble efa =
        EfaDouble.devices(2)
            .with(Option.GENERATION, generation)
            .with(Option.SEED, 5)
            .with(Option.DELAY_US, delayMicros)) {
      assertExact("efa", efa);
    }
  }

  /** All operations, between ranks as processes, with requests that overtake each other. */
  @Test
  @Tag("long")
  void collectivesAreExact() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(2).with(Option.SEED, 7).with(Option.DELAY_US, 300)) {
      List<String> arguments =
          List.of(
              "collectives",
              "--json",
              "-p",
              "efa",
              "-n",
              "3",
              "-d",
              String.join(",", efa.domains()),
              "-s",
              "4,1500000",
              "-k",
              "2",
              "-w",
              "1",
              "--prepare",
              "0.1");
      // A barrier has no length.
      exact(efa, arguments, 8 * 2 + 1);
    }
  }

  /** libfabric 2 has the devices without the provider's protocol as well; 1.17 says it has not. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  @Tag("long")
  void sumsAreExactWithoutTheProvidersProtocol(int rails) throws Exception {
    try (EfaDouble efa = EfaDouble.devices(rails)) {
      if (FabricProvider.named("libfabric").version().startsWith("libfabric 1.")) {
        CommandProcess.Outcome outcome = run(efa, allReduce("efa-direct", efa, "4"));
        assertNotEquals(0, outcome.code(), outcome.out());
        assertTrue(outcome.err().contains("efa-direct"), outcome.err());
      } else {
        assertExact("efa-direct", efa);
      }
    }
  }

  /**
   * A device that fails amid the run ends it in time: right on the other one, or with its cause.
   * One that is mute never tells how anything ended, for which libfabric's close would wait for
   * ever.
   */
  @Test
  void aRailThatDiesEndsInTime() throws Exception {
    assertEndsInTime("error", AMID);
  }

  @ParameterizedTest
  @ValueSource(strings = {"silent", "mute"})
  @Tag("long")
  void aRailThatFallsSilentEndsInTime(String how) throws Exception {
    assertEndsInTime(how, AMID);
  }

  private void assertEndsInTime(String how, int requests) throws Exception {
    try (EfaDouble efa =
        EfaDouble.devices(2)
            .with(Option.FAULT, "1:%s:%d".formatted(how, requests))
            .with(Option.TRACE, 1)) {
      List<String> arguments = allReduce("efa", efa, "1M");
      arguments.addAll(List.of("-k", "30", "--timeout", "15"));
      CommandProcess.Outcome outcome = run(efa, arguments);
      String told =
          outcome
              .err()
              .lines()
              .filter(line -> !line.startsWith("efa-double["))
              .collect(Collectors.joining("\n"));
      System.out.printf(
          "%s after %d requests: exit code %d%n%s%n", how, requests, outcome.code(), told);
      assertTrue(outcome.err().contains("has its fault after " + requests), told);
      if (outcome.code() == 0) {
        JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
        assertEquals(0, document.get("errors").getAsLong(), outcome.out());
      } else {
        assertEquals(1, outcome.code(), outcome.err());
        assertTrue(outcome.err().contains("rank "), outcome.err());
      }
      efa.demandNoViolations();
    }
  }

  /** A device that never worked: the ranks end with who waited for whom, or without it. */
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"silent", "error"})
  @Tag("long")
  void aRailThatIsDeadEndsInTime(String how) throws Exception {
    assertEndsInTime(how, 1);
  }

  @Test
  void perfMeasures() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(1)) {
      CommandProcess.Outcome outcome =
          run(
              efa,
              List.of(
                  "perf",
                  "-p",
                  "efa",
                  "-b",
                  "64",
                  "-e",
                  "64K",
                  "-f",
                  "1024",
                  "-n",
                  "10",
                  "-w",
                  "2",
                  "--prepare",
                  "0.1"));
      assertEquals(0, outcome.code(), () -> outcome.err() + outcome.out());
      assertTrue(
          outcome.out().lines().anyMatch(line -> line.matches(" +64 KiB .* 0")), outcome.out());
      efa.demandNoViolations();
    }
  }

  @Test
  void infoListsTheDevices() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(4)) {
      CommandProcess.Outcome outcome = run(efa, List.of("info", "-p", "efa"));
      assertEquals(0, outcome.code(), () -> outcome.err() + outcome.out());
      for (String domain : efa.domains()) {
        assertTrue(outcome.out().contains(domain), outcome.out());
      }
      efa.demandNoViolations();
    }
  }
}
