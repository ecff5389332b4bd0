package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jofi.efadouble.EfaDouble;
import org.jofi.efadouble.Option;
import org.jofi.nccl.PluginUnderTest.Run;
import org.jofi.nccl.layout.PluginFolder;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The plugin in processes of C programs, which load and call it as NCCL does. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
class DriverTest {
  /** One after the other in a pair of processes: a JVM takes longer to start than most of them. */
  private static final String SCENARIOS =
      "sizes,in-flight,groups,service-thread,four-at-once,listener-again,"
          + "close-in-flight,too-long,stale-handles,files-close-on-exec,fork-then-call,children-exit,"
          + "some-churn,finalize-in-flight,again";

  private Path scratch;
  private PluginUnderTest plugin;
  private Path library;

  @BeforeAll
  void layOut(@TempDir Path folderForAll) throws IOException, InterruptedException {
    scratch = folderForAll;
    plugin = new PluginUnderTest(scratch);
    Path folder = scratch.resolve("plugin");
    plugin.folder(folder);
    library = folder.resolve(PluginFolder.LIBRARY);
  }

  private static Map<String, String> environment(String provider, String... more) {
    Map<String, String> environment = new HashMap<>();
    environment.put("JOFI_JAVA_HOME", PluginUnderTest.javaHome().toString());
    environment.put("JOFI_PROVIDER", provider);
    // As little as shows that nothing is disturbed by it.
    environment.put("JOFI_WARM_UP", "0.1");
    // They are over before HotSpot's second compiler pays.
    environment.put("JOFI_JVM_OPTS", "-XX:TieredStopAtLevel=1");
    for (int name = 0; name < more.length; name += 2) {
      environment.put(more[name], more[name + 1]);
    }
    return environment;
  }

  private Run good(Map<String, String> environment, int version, String scenario)
      throws IOException, InterruptedException {
    Run run = plugin.drive(environment, library.toString(), version, scenario);
    assertEquals(0, run.code(), () -> run.out() + run.err());
    return run;
  }

  @Test
  void twoProcessesThatTellOfTheirWarmUp() throws Exception {
    Run run = twoProcesses("tcp", "never", "0.3");
    String said = run.out() + run.err();
    // On each side, of which only one listens.
    assertTrue(said.split("device 0: warmed up with [1-9][0-9]* messages", -1).length > 2, said);
  }

  /** As on machines with many processors. */
  @Test
  void twoProcessesWithProgressThreads() throws Exception {
    twoProcesses("shm", "always", "0.1");
  }

  @ParameterizedTest
  @CsvSource({"tcp, always", "shm, never"})
  @Tag("long")
  void twoProcessesOverTheOthers(String provider, String progressThreads) throws Exception {
    twoProcesses(provider, progressThreads, "0.1");
  }

  private Run twoProcesses(String provider, String progressThreads, String warmUp)
      throws Exception {
    return good(
        environment(provider, "JOFI_PROGRESS_THREADS", progressThreads, "JOFI_WARM_UP", warmUp),
        11,
        SCENARIOS);
  }

  @ParameterizedTest
  @CsvSource({"tcp, never", "tcp, always", "shm, never", "shm, always"})
  @Tag("long")
  void aThousandForkedChildrenExit(String provider, String progressThreads) throws Exception {
    assumeTrue(isOnTheSystemsLibfabric(), "any libfabric will do for this");
    // Of each of both sides.
    String children = "125";
    good(
        environment(provider, "JOFI_PROGRESS_THREADS", progressThreads, "CHILDREN", children),
        11,
        "children-exit");
  }

  /** Each provider on each library, once with progress threads and once without. */
  static Stream<Arguments> ofEachProvider() {
    boolean systems = isOnTheSystemsLibfabric();
    return Stream.of(
        Arguments.of("tcp", systems ? "always" : "never"),
        Arguments.of("shm", systems ? "never" : "always"));
  }

  private static boolean isOnTheSystemsLibfabric() {
    return System.getProperty("jofi.libfabric", "").isEmpty();
  }

  @ParameterizedTest
  @MethodSource("ofEachProvider")
  @Tag("long")
  void thousandsOfConnectionsLeaveNoMemoryBehind(String provider, String progressThreads)
      throws Exception {
    good(environment(provider, "JOFI_PROGRESS_THREADS", progressThreads), 11, "churn");
  }

  /** On EFA devices without hardware; flushes are reads there, which take their time. */
  @Test
  void twoProcessesWithEfaDevices() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(2).with(Option.DELAY_US, 100)) {
      Map<String, String> environment = environment("efa", "JOFI_FLUSH", "always");
      environment.putAll(efa.environment());
      good(environment, 11, "sizes,in-flight,groups,close-in-flight,again,flushes");
      efa.demandNoViolations();
    }
  }

  @Test
  void flushesReadThroughTheNicAndAWarmUpCanBeTurnedOff() throws Exception {
    flushesReadThroughTheNic("shm");
  }

  @ParameterizedTest
  @ValueSource(strings = "tcp")
  @Tag("long")
  void flushesReadThroughTheNic(String provider) throws Exception {
    // Over shm only a first read from itself takes more than one poll, and a warm-up has had it.
    Run cold =
        good(environment(provider, "JOFI_FLUSH", "always", "JOFI_WARM_UP", "0"), 11, "flushes");
    String said = cold.out() + cold.err();
    assertFalse(said.contains("warmed up"), said);
  }

  /** The table of NCCL 2.26 and 2.27. */
  @Test
  void version10() throws Exception {
    good(environment("tcp"), 10, "sizes,groups,again,stale-handles");
  }

  /** The table of NCCL 2.30 and newer. */
  @Test
  @Tag("long")
  void version12() throws Exception {
    good(environment("tcp"), 12, "sizes,groups,again,stale-handles");
  }

  /** NCCL 2.20 to 2.25. */
  @Test
  void olderOnesAreToldWhatTheyNeed() throws Exception {
    good(environment("tcp"), 11, "older");
  }

  @Test
  void theHostStaysAsItWas() throws Exception {
    theHostStaysAsItWas("shm", 11);
  }

  @ParameterizedTest
  @CsvSource({"tcp, 12", "tcp, 11", "tcp, 10"})
  @Tag("long")
  void theHostStaysAsItWas(String provider, int version) throws Exception {
    good(environment(provider, "JOFI_PROGRESS_THREADS", "always"), version, "host-unchanged");
  }

  @Test
  void aFaultOfTheProgramReachesItsHandler() throws Exception {
    good(environment("shm"), 11, "faults-of-program");
  }

  /** What a JVM does by its signals from time to time, it does all the time here. */
  @Test
  @Tag("long")
  void theProgramMayResetTheHandlersOfFaults() throws Exception {
    assumeTrue(isOnTheSystemsLibfabric(), "any libfabric will do for this");
    String options =
        "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:+HandshakeALot"
            + " -XX:GuaranteedSafepointInterval=1";
    good(
        environment("shm", "JOFI_PROGRESS_THREADS", "never", "JOFI_JVM_OPTS", options),
        11,
        "handlers-reset");
  }

  /** Nothing is called in it when the process ends. */
  @Test
  void aJvmOfTheProgramServesUntilItIsGone() throws Exception {
    aJvmOfTheProgramServesUntilItIsGone(11);
  }

  @ParameterizedTest
  @ValueSource(ints = 10)
  @Tag("long")
  void aJvmOfTheProgramServesUntilItIsGone(int version) throws Exception {
    good(environment("tcp"), version, "foreign-jvm");
  }

  @Test
  void aThreadWithTooSmallAStackIsToldSo() throws Exception {
    good(environment("tcp"), 11, "small-stacks");
  }

  /** One that a signal ended could not clean up; the next one that starts does. */
  @Test
  void programsThatEndWithoutFinalizeLeaveNoSharedMemory() throws Exception {
    Run killed = plugin.drive(environment("shm"), library.toString(), 11, "killed-open");
    assertEquals(128 + 15, killed.code(), () -> killed.out() + killed.err());
    Run over = good(environment("shm", "KILLED", process(killed)), 11, "exit-open");
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(Path.of("/dev/shm"), process(over) + ":*")) {
      assertFalse(left.iterator().hasNext(), "it left files");
    }
  }

  private static String process(Run run) {
    Matcher said = Pattern.compile("process ([0-9]+)\n").matcher(run.out());
    assertTrue(said.find(), run::out);
    return said.group(1);
  }

  @Test
  void nothingWorksBeforeInit() throws Exception {
    good(environment("tcp"), 11, "early-calls");
  }

  @ParameterizedTest
  @CsvSource({"shm, never", "tcp, always"})
  void aKilledPeerIsARemoteError(String provider, String progressThreads) throws Exception {
    kill(provider, progressThreads);
  }

  @Test
  @Tag("long")
  void aKilledPeerIsARemoteErrorAlsoOverSocketsWithoutThreads() throws Exception {
    kill("tcp", "never");
  }

  private void kill(String provider, String progressThreads) throws Exception {
    Map<String, String> environment =
        environment(
            provider,
            "JOFI_PROGRESS_THREADS",
            progressThreads,
            "JOFI_REQUEST_TIMEOUT",
            "5",
            "JOFI_PEER_TIMEOUT",
            "3",
            "JOFI_CLOSE_TIMEOUT",
            "3");
    Run run = good(environment, 11, "peer-killed");
    assertTrue(run.out().contains("peer killed"), run::out);
    // Over sockets the connection may be reset before.
    assertTrue(
        provider.equals("tcp") || run.err().contains("The limit is peerTimeout (JOFI_PEER_TIMEOUT"),
        run::err);
  }

  /** NCCL looks for the name that it is told, for libnccl-net-NAME.so, or for libnccl-net.so. */
  @ParameterizedTest
  @ValueSource(strings = {"jofi", "libnccl-net.so"})
  void itIsFoundByName(String name) throws Exception {
    find(name);
  }

  @Test
  @Tag("long")
  void itIsFoundByItsLongName() throws Exception {
    find("libnccl-net-jofi.so");
  }

  private void find(String name) throws Exception {
    Run run =
        plugin.drive(
            environment("tcp", "LD_LIBRARY_PATH", library.getParent().toString()),
            name,
            11,
            "host-unchanged");
    assertEquals(0, run.code(), () -> run.out() + run.err());
  }

  @Test
  @Tag("long")
  void withItsRuntimeItWorksFromWhereverItIsCopied() throws Exception {
    Path first = scratch.resolve("first");
    plugin
        .folder(first)
        .withRuntime(PluginUnderTest.javaHome(), PluginUnderTest.modulePath())
        .checkSize();
    Path moved = Files.move(first, scratch.resolve("moved elsewhere"));

    Run run =
        plugin.drive(
            Map.of("JOFI_PROVIDER", "tcp", "LD_LIBRARY_PATH", moved.toString()),
            "libnccl-net.so",
            11,
            "sizes");

    assertEquals(0, run.code(), () -> run.out() + run.err());
  }

  private String refusal(Map<String, String> environment) throws Exception {
    Run run = good(environment, 11, "refused");
    return run.out();
  }

  @Test
  void withoutAJvmOneWarningSaysWhatWasLookedAt() throws Exception {
    String nowhere = scratch.resolve("nowhere").toString();
    String text = refusal(Map.of("JAVA_HOME", nowhere));

    assertTrue(text.contains("no JVM found"), text);
    assertTrue(text.contains("JOFI_JAVA_HOME: not set"), text);
    assertTrue(text.contains(nowhere), text);
  }

  @Test
  void anOptionThatTheJvmDoesNotKnowIsNamed() throws Exception {
    String text = refusal(environment("tcp", "JOFI_JVM_OPTS", "-XX:+NoSuchOption"));

    assertTrue(text.contains("NoSuchOption"), text);
  }

  /** Left alone, the JVM would end the process. */
  @Test
  void aHeapThatDoesNotFitIsARefusalAndNotTheEnd() throws Exception {
    String text = refusal(environment("tcp", "JOFI_JVM_OPTS", "-Xmx90000g"));

    assertTrue(text.contains("JOFI_JVM_OPTS"), text);
  }

  @Test
  void aLimitOnThreadsIsNamedWhenTheJvmMeetsIt() throws Exception {
    Path group = groupOfProcesses(8);
    try {
      String text = refusal(environment("tcp", "GROUP", group.toString()));
      assertTrue(text.contains("raise the limit of this user (ulimit -u)"), text);
      assertTrue(text.contains("(pids.max)"), text);
    } finally {
      Files.delete(group);
    }
  }

  /** A control group of its own, of either version. */
  private static Path groupOfProcesses(int most) throws IOException {
    String name = "jofi-plugin-" + ProcessHandle.current().pid();
    for (String root : List.of("/sys/fs/cgroup/pids", "/sys/fs/cgroup")) {
      Path group = Path.of(root, name);
      try {
        Files.createDirectory(group);
      } catch (IOException e) {
        continue;
      }
      try {
        Files.writeString(group.resolve("pids.max"), Integer.toString(most));
        return group;
      } catch (IOException e) {
        Files.delete(group);
      }
    }
    return abort("no control group of pids can be made here");
  }

  @Test
  void aVariableThatIsWrongIsNamed() throws Exception {
    String text = refusal(environment("tcp", "JOFI_MAX_RAILS", "many"));

    assertTrue(text.contains("JOFI_MAX_RAILS='many'"), text);
  }

  @Test
  void aProviderThatIsNotThereIsNamed() throws Exception {
    String text = refusal(environment("carrierpigeon"));

    assertTrue(text.contains("carrierpigeon"), text);
  }

  @Test
  void withoutItsJarsItSaysWhereTheyBelong() throws Exception {
    Path bare = Files.createDirectories(scratch.resolve("bare"));
    Files.copy(library, bare.resolve(PluginFolder.LIBRARY));
    Run run =
        plugin.drive(
            environment("tcp"), bare.resolve(PluginFolder.LIBRARY).toString(), 11, "refused");

    assertEquals(0, run.code(), () -> run.out() + run.err());
    assertTrue(run.out().contains("Copy the whole plugin folder"), run::out);
  }

  @Test
  void optionsOfTheUserHold() throws Exception {
    optionsOfTheUserHold("-XX:+UseZGC -Xmx512m");
  }

  /** They are for all JVMs of a site. A collector that is chosen there is the plugin's, too. */
  @Test
  void optionsForAllJvmsHold() throws Exception {
    optionsForAllJvmsHold("-XX:MaxGCPauseMillis=50", "Serial");
  }

  @ParameterizedTest
  @CsvSource("-XX:+UseG1GC, G1")
  @Tag("long")
  void optionsForAllJvmsHold(String options, String collector) throws Exception {
    Path log = Files.createTempFile(scratch, "gc", ".log");
    good(
        environment("tcp", "JAVA_TOOL_OPTIONS", options, "JOFI_JVM_OPTS", "-Xlog:gc:" + log),
        11,
        "host-unchanged");
    String text = Files.readString(log, StandardCharsets.UTF_8);
    assertTrue(text.contains("Using " + collector), text);
  }

  @Test
  void optionsThatAreForAllJvmsAndDoNotFitAreNamed() throws Exception {
    String text =
        refusal(
            environment(
                "tcp", "JAVA_TOOL_OPTIONS", "-XX:+UseG1GC", "JOFI_JVM_OPTS", "-XX:+UseParallelGC"));

    assertTrue(text.contains("JAVA_TOOL_OPTIONS='-XX:+UseG1GC'"), text);
  }

  @ParameterizedTest
  @ValueSource(strings = "-XX:+UseG1GC")
  @Tag("long")
  void optionsOfTheUserHold(String options) throws Exception {
    good(environment("tcp", "JOFI_JVM_OPTS", options), 11, "groups");
  }
}
