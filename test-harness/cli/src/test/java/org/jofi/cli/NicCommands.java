package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jofi.nicdouble.NicDouble;

/**
 * The commands on NICs without hardware, below the real provider of libfabric, and what holds of
 * all kinds of them.
 */
final class NicCommands {
  /** One element, several packets, and what is longer than a chunk. */
  static final String SIZES = "4,64K,1M";

  /**
   * Requests after which a device fails amid a run. One that is slow while the machine is busy is
   * given less, so this is a third of what a fair share of the run is.
   */
  static final int AMID = 40;

  /** What the devices themselves tell, where they are asked to. */
  private static final Pattern TRACE = Pattern.compile("\\w+-double\\[\\d+\\]: .*");

  /** How long a command may take that does not end sooner on a machine that does more. */
  private static final long BOUND_SECONDS = 280;

  private static final long LOOK_MILLIS = 100;

  /** Messages after which a run is amid its work. */
  private static final int SENDS = 100;

  private final Path folder;
  private final String provider;

  /**
   * @param folder for what commands print
   * @param provider that the commands use
   */
  NicCommands(Path folder, String provider) {
    this.folder = folder;
    this.provider = provider;
  }

  CommandProcess.Outcome run(NicDouble nics, List<String> arguments) throws Exception {
    return run(nics.environment(), arguments);
  }

  private CommandProcess.Outcome run(Map<String, String> environment, List<String> arguments)
      throws Exception {
    return CommandProcess.run(folder, builder(environment, arguments), BOUND_SECONDS);
  }

  private static ProcessBuilder builder(Map<String, String> environment, List<String> arguments) {
    return CommandProcess.builder(environment, arguments.toArray(String[]::new));
  }

  /** An all-reduce over all of the devices. */
  List<String> allReduce(NicDouble nics, String sizes, String... more) {
    return onAll(nics, "allreduce", "-s", sizes, more);
  }

  /** All operations of the library of collectives, each of two lengths, of three ranks. */
  void collectivesAreExact(NicDouble nics) throws Exception {
    List<String> arguments =
        onAll(nics, "collectives", "-s", "4,1500000", "-n", "3", "-w", "1", "-k", "2");
    // A barrier has no length.
    exact(nics, 8 * 2 + 1, arguments);
  }

  private List<String> onAll(
      NicDouble nics, String command, String option, String value, String... more) {
    List<String> arguments =
        new ArrayList<>(List.of(command, "--json", "-p", provider, option, value));
    arguments.addAll(List.of("-d", String.join(",", nics.domains()), "--prepare", "0.1"));
    arguments.addAll(Arrays.asList(more));
    return arguments;
  }

  void sumsAreExact(NicDouble nics) throws Exception {
    sumsAreExact(nics, SIZES, "-w", "1", "-k", "3");
  }

  void sumsAreExact(NicDouble nics, String sizes, String... more) throws Exception {
    int rows = 1 + (int) sizes.chars().filter(each -> each == ',').count();
    JsonObject document = exact(nics, rows, allReduce(nics, sizes, more));
    assertEquals(
        nics.domains().size(), document.getAsJsonArray("rails").size(), document.toString());
  }

  /** What a command printed that found no error in so many rows. */
  private JsonObject exact(NicDouble nics, int rows, List<String> arguments) throws Exception {
    CommandProcess.Outcome outcome = good(nics, arguments);
    JsonObject document = withoutErrors(outcome);
    assertEquals(rows, document.getAsJsonArray("results").size(), outcome.out());
    return document;
  }

  private static JsonObject withoutErrors(CommandProcess.Outcome outcome) {
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals(0, document.get("errors").getAsLong(), outcome.out());
    return document;
  }

  /** A command that does what it is to do, and keeps the devices' rules. */
  CommandProcess.Outcome good(NicDouble nics, List<String> arguments) throws Exception {
    CommandProcess.Outcome outcome = run(nics, arguments);
    assertEquals(0, outcome.code(), () -> outcome.err() + outcome.out());
    nics.demandNoViolations();
    return outcome;
  }

  /**
   * A device that has failed after so many requests, and tells so, ends a run in time: right on the
   * other one, or with its cause.
   */
  void endsInTime(NicDouble nics, int requests) throws Exception {
    CommandProcess.Outcome outcome =
        run(nics, allReduce(nics, "1M", "-w", "1", "-k", "30", "--timeout", "15"));
    String told = withoutTrace(outcome.err());
    System.out.printf("exit code %d%n%s%n", outcome.code(), told);
    assertTrue(outcome.err().contains("has its fault after " + requests), told);
    if (outcome.code() == 0) {
      withoutErrors(outcome);
    } else {
      assertEquals(1, outcome.code(), told);
      assertTrue(told.contains("rank "), told);
    }
    nics.demandNoViolations();
  }

  private static String withoutTrace(String err) {
    return err.lines()
        .filter(line -> !TRACE.matcher(line).matches())
        .collect(Collectors.joining("\n"));
  }

  void perfMeasures(NicDouble nics) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("perf", "-p", provider));
    arguments.addAll(List.of("-b", "64", "-e", "64K", "-f", "1024", "-n", "10", "-w", "2"));
    arguments.addAll(List.of("--prepare", "0.1"));
    String out = good(nics, arguments).out();
    assertTrue(out.lines().anyMatch(line -> line.matches(" +64 KiB .* 0")), out);
  }

  void infoListsTheDevices(NicDouble nics) throws Exception {
    String out = good(nics, List.of("info", "-p", provider)).out();
    for (String domain : nics.domains()) {
      assertTrue(out.contains(domain), out);
    }
  }

  /** Sums of GPU memory, which a stand-in for the driver has, through memory of the host. */
  void gpusFormTheExactSums(NicDouble nics, Path driver) throws Exception {
    Map<String, String> environment = new HashMap<>(nics.environment());
    environment.put("JOFI_CUDA", driver.toString());
    List<String> arguments = allReduce(nics, "4,4004,3M", "-w", "1", "-k", "2");
    arguments.addAll(List.of("--memory", "cuda", "--chunk", "128K"));
    CommandProcess.Outcome outcome = run(environment, arguments);
    assertEquals(0, outcome.code(), outcome::err);
    JsonObject document = withoutErrors(outcome);
    assertEquals("cuda", document.get("memory").getAsString(), outcome.out());
    assertTrue(document.get("memoryPath").getAsString().startsWith("staged"), outcome.out());
    nics.demandNoViolations();
  }

  /**
   * A device of all processes falls silent amid a run until its rail is lost, and is up again then:
   * the rail is used again.
   */
  void aRailThatComesBackIsUsedAgain(NicDouble nics, int device) throws Exception {
    Path err = Files.createTempFile(folder, "err", ".txt");
    Process run =
        builder(nics.environment(), allReduce(nics, "256K", "-w", "1", "-k", "1000000"))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(err.toFile())
            .start();
    try {
      await(run, err, () -> Files.exists(nics.wireFile()) && sends(nics) > SENDS);
      nics.ask("port", Integer.toString(device), "silent");
      await(run, err, () -> Files.readString(err).contains("1 of 2 data rails are up"));
      nics.ask("port", Integer.toString(device), "up");
      await(run, err, () -> Files.readString(err).contains("2 of 2 data rails are up"));
    } finally {
      run.destroy();
      assertTrue(run.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), "it hangs");
    }
    nics.demandNoViolations();
  }

  private static long sends(NicDouble nics) throws Exception {
    Matcher told = Pattern.compile("\\bsends (\\d+)").matcher(nics.ask("status"));
    assertTrue(told.find(), "no sends are told of");
    return Long.parseLong(told.group(1));
  }

  private static void await(Process run, Path err, Callable<Boolean> what) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS / 3);
    while (!what.call()) {
      assertTrue(run.isAlive() && System.nanoTime() < end, Files.readString(err));
      Thread.sleep(LOOK_MILLIS);
    }
  }

  /**
   * Ranks are stopped, or killed and started again, for a few seconds; and nothing is left over.
   */
  void soakHolds(NicDouble nics, String faults) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("soak", "-p", provider, "-m", "0.1"));
    arguments.addAll(List.of("--rails", Integer.toString(nics.domains().size())));
    arguments.addAll(List.of("--faults", faults, "--seed", "5"));
    String out = good(nics, arguments).out();
    assertTrue(out.contains("everything held"), out);
  }
}
