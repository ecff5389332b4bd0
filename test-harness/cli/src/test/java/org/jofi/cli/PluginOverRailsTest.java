package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jofi.cli.soak.RailNetwork;
import org.jofi.nccl.layout.PluginFolder;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * NCCL's network plugin over four real TCP rails between two network namespaces, in a C program
 * that calls it as NCCL does: eight communicators at once, one thread, every byte checked.
 */
@Timeout(300)
@Tag("alone")
@Isolated("it measures")
class PluginOverRailsTest {
  private static final int RAILS = 4;
  private static final int SENDER = 0;
  private static final int RECEIVER = 1;
  private static final Path SOURCES = Path.of("..", "..", "api", "nccl-net", "src", "test", "c");
  private static final long BOUND_SECONDS = 120;

  /** How long nothing may arrive, in ms: a silent rail is found after 1.5 s. */
  private static final long LONGEST_PAUSE = 2500;

  private static final Pattern RESULT =
      Pattern.compile("rank 1: ([0-9.]+) Gbit/s over 8 communicators, longest pause ([0-9]+) ms");

  @TempDir private static Path scratch;
  private static Path driver;
  private static Path plugin;

  @TempDir private Path folder;

  @BeforeAll
  static void build() throws Exception {
    String obstacle = RailNetwork.obstacle();
    assumeTrue(obstacle.isEmpty(), obstacle);
    boolean compiler =
        Stream.of(System.getenv("PATH").split(File.pathSeparator))
            .anyMatch(at -> Files.isExecutable(Path.of(at, "gcc")));
    assumeTrue(compiler, "needs gcc and libc6-dev: apt-get install gcc libc6-dev");
    driver = scratch.resolve("driver");
    List<String> command = new ArrayList<>(List.of("gcc", "-std=gnu11", "-O2"));
    try (Stream<Path> sources = Files.list(SOURCES)) {
      sources
          .map(Path::toString)
          .filter(source -> source.endsWith(".c"))
          .sorted()
          .forEach(command::add);
    }
    command.addAll(List.of("-o", driver.toString(), "-ldl", "-lpthread"));
    CommandProcess.Outcome gcc = CommandProcess.run(scratch, new ProcessBuilder(command));
    assertEquals(0, gcc.code(), gcc.err());
    Path laidOut = scratch.resolve("plugin");
    PluginFolder.create(laidOut, modulePath());
    plugin = laidOut.resolve(PluginFolder.LIBRARY);
  }

  /** What this test runs with, without tests. */
  private static List<Path> modulePath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(Path::of)
        .filter(Files::exists)
        .filter(path -> !path.endsWith("test-classes"))
        .filter(
            path ->
                !path.getFileName()
                    .toString()
                    .matches("(junit|jqwik|surefire|maven|apiguardian|opentest4j).*"))
        .toList();
  }

  /** What the driver said, after it succeeded. */
  private record Said(String text) {
    private Matcher result() {
      Matcher result = RESULT.matcher(text);
      assertTrue(result.find(), text);
      return result;
    }

    double gigabits() {
      return Double.parseDouble(result().group(1));
    }

    long longestPause() {
      return Long.parseLong(result().group(2));
    }

    /** Once, and by one side; every message arrived right. */
    void leavesOut(String begin, String end) {
      result();
      List<String> lines = text.lines().filter(line -> line.contains("left out: ")).toList();
      assertEquals(
          1,
          lines.stream()
              .filter(line -> line.startsWith("INFO "))
              .filter(line -> line.contains(begin) && line.endsWith(end))
              .count(),
          text);
      assertEquals(List.of(), warnings());
    }

    /** What NCCL's logger was told as a warning. */
    List<String> warnings() {
      return text.lines().filter(line -> line.startsWith("WARN ")).toList();
    }
  }

  private Said drive(RailNetwork network, double seconds, String fault)
      throws IOException, InterruptedException {
    String all = network.device();
    return drive(network, seconds, fault, Map.of("GROUPING_0", all, "GROUPING_1", all));
  }

  private Said drive(RailNetwork network, double seconds, String fault, Map<String, String> more)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(driver.toString(), plugin.toString(), "11", "rails");
    Map<String, String> environment = new HashMap<>();
    environment.put("JOFI_JAVA_HOME", System.getProperty("java.home"));
    environment.put("JOFI_PROVIDER", "net");
    environment.put("JOFI_WARM_UP", "0.1");
    environment.put("NETWORK_0", network.namespace(SENDER));
    environment.put("NETWORK_1", network.namespace(RECEIVER));
    environment.put("RAILS_SECONDS", Double.toString(seconds));
    if (!fault.isEmpty()) {
      environment.put("RAILS_FAULT", fault);
    }
    environment.putAll(more);
    builder.environment().putAll(environment);
    CommandProcess.Outcome outcome = CommandProcess.run(folder, builder, BOUND_SECONDS);
    String text = outcome.out() + outcome.err();
    assertEquals(0, outcome.code(), text);
    System.out.println(text);
    return new Said(text);
  }

  private static String cut(RailNetwork network, int... rails) {
    List<String> commands = new ArrayList<>();
    for (int rail : rails) {
      commands.add("ip -n %s link set rail%d down".formatted(network.namespace(RECEIVER), rail));
    }
    return String.join(" && ", commands);
  }

  /** NCCL notices a pause; whoever reads its log, which rail it was, why, and how many are left. */
  @Test
  void aRailThatIsCutIsSurvived() throws Exception {
    try (RailNetwork network = new RailNetwork(2, RAILS)) {
      Said said = drive(network, 7, cut(network, 2));
      assertTrue(said.longestPause() < LONGEST_PAUSE, "ms: " + said.longestPause());
      assertTrue(
          said.warnings().stream()
              .anyMatch(
                  line ->
                      line.contains("data rail 2")
                          && line.contains("silent for")
                          && line.contains("; 3 of 4 data rails are up")),
          said.text());
    }
  }

  private static Map<String, String> unequal(String sender, String receiver, String threads) {
    return Map.of(
        "GROUPING_0", sender,
        "GROUPING_1", receiver,
        "JOFI_PROGRESS_THREADS", threads,
        "JOFI_WARM_UP", "0",
        "JOFI_JVM_OPTS", "-XX:TieredStopAtLevel=1");
  }

  /** The sender has one in a subnet that the receiver is not in, and another order. */
  @Test
  void whatUnequalRailsHaveInCommonIsUsed() throws Exception {
    try (RailNetwork network = new RailNetwork(2, RAILS)) {
      Said said = drive(network, 0.2, "", unequal("rail0,rail1,rail3", "rail3,rail1", "never"));
      said.leavesOut("rail0+2: 2 of its 3 rails", "which has 2: rail3+rail1; left out: rail0");
    }
  }

  /** The receiver has more, and is asked first where it is not in the sender's subnet. */
  @Test
  @Tag("long")
  void aListenerUsesTheRailThatItsConnectorHas() throws Exception {
    try (RailNetwork network = new RailNetwork(2, RAILS)) {
      Said said = drive(network, 0.2, "", unequal("rail2", "rail0,rail1,rail2", "always"));
      said.leavesOut("rail0+2: 1 of its 3 rails", "which has 1: rail2; left out: rail0+rail1");
    }
  }

  @Test
  @Tag("long")
  void threeThatAreCutAtOnceAreSurvived() throws Exception {
    try (RailNetwork network = new RailNetwork(2, RAILS)) {
      Said said = drive(network, 15, cut(network, 0, 1, 3));
      assertTrue(
          said.warnings().stream().anyMatch(line -> line.contains("; 1 of 4 data rails are up")),
          said.text());
    }
  }

  @Test
  @Tag("long")
  void aRailOfATenthHoldsUpNoOther() throws Exception {
    try (RailNetwork network = new RailNetwork(2, RAILS)) {
      network.slow(SENDER, 3, 10);
      network.slow(RECEIVER, 3, 10);
      Said said = drive(network, 8, "");
      assertTrue(said.gigabits() > 2.5, "of 3.1: " + said.gigabits());
      assertEquals(List.of(), said.warnings());
    }
  }
}
