package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.efadouble.EfaDouble;
import org.jofi.efadouble.Option;
import org.jofi.nccl.PluginUnderTest.Run;
import org.jofi.nicdouble.NicDouble;
import org.jofi.verbsdouble.VerbsDouble;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The plugin in processes of C programs, which load and call it as NCCL does. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DriverTest {
  /** One after the other in a pair of processes: a JVM takes longer to start than most of them. */
  private static final String SCENARIOS =
      "sizes,in-flight,groups,service-thread,four-at-once,listener-again,"
          + "close-in-flight,too-long,stale-handles,files-close-on-exec,fork-then-call,children-exit,"
          + "some-churn,finalize-in-flight,again";

  /** Of these, those that depend on who polls. With threads that spin, each takes much longer. */
  private static final String OF_POLLING =
      "in-flight,four-at-once,close-in-flight,finalize-in-flight";

  private static final Pattern JFR = Pattern.compile("jdk\\.jfr\\.\\S+");

  private PluginUnderTest plugin;

  @BeforeAll
  void layOut(@TempDir Path folderForAll) throws IOException, InterruptedException {
    plugin = new PluginUnderTest(folderForAll);
  }

  @Test
  void twoProcessesThatTellOfTheirWarmUp() throws Exception {
    Run run = twoProcesses("tcp", "never", "0.3", SCENARIOS);
    String said = run.out() + run.err();
    // On each side, of which only one listens.
    assertTrue(said.split("device 0: warmed up with [1-9][0-9]* messages", -1).length > 2, said);
  }

  /** As on machines with many processors. */
  @Test
  void twoProcessesWithProgressThreads() throws Exception {
    twoProcesses("shm", "always", "0.1", SCENARIOS);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {"tcp; always; " + OF_POLLING, "shm; never; " + SCENARIOS})
  @Tag("long")
  void twoProcessesOverTheOthers(String provider, String progressThreads, String scenarios)
      throws Exception {
    twoProcesses(provider, progressThreads, "0.1", scenarios);
  }

  private Run twoProcesses(String provider, String progressThreads, String warmUp, String scenarios)
      throws Exception {
    return plugin.good(
        PluginUnderTest.environment(
            provider, "JOFI_PROGRESS_THREADS", progressThreads, "JOFI_WARM_UP", warmUp),
        11,
        scenarios);
  }

  @ParameterizedTest
  @CsvSource({"tcp, never", "tcp, always", "shm, never", "shm, always"})
  @Tag("long")
  void aThousandForkedChildrenExit(String provider, String progressThreads) throws Exception {
    assumeTrue(PluginUnderTest.isOnTheSystemsLibfabric(), "any libfabric will do for this");
    // Of each of both sides.
    String children = "125";
    plugin.good(
        PluginUnderTest.environment(
            provider, "JOFI_PROGRESS_THREADS", progressThreads, "CHILDREN", children),
        11,
        "children-exit");
  }

  /** Each provider on each library, once with progress threads and once without. */
  static Stream<Arguments> ofEachProvider() {
    boolean systems = PluginUnderTest.isOnTheSystemsLibfabric();
    return Stream.of(
        Arguments.of("tcp", systems ? "always" : "never"),
        Arguments.of("shm", systems ? "never" : "always"));
  }

  @ParameterizedTest
  @MethodSource("ofEachProvider")
  @Tag("long")
  void thousandsOfConnectionsLeaveNoMemoryBehind(String provider, String progressThreads)
      throws Exception {
    plugin.good(
        PluginUnderTest.environment(provider, "JOFI_PROGRESS_THREADS", progressThreads),
        11,
        "churn");
  }

  /** On EFA devices without hardware; flushes are reads there, which take their time. */
  @Test
  void twoProcessesWithEfaDevices() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(2).with(Option.DELAY_US, 100)) {
      twoProcessesOn(efa, "efa");
    }
  }

  @Test
  @Tag("long")
  void twoProcessesWithInfiniBandAdapters() throws Exception {
    try (VerbsDouble verbs =
        VerbsDouble.devices(2).with(org.jofi.verbsdouble.Option.DELAY_US, 100)) {
      twoProcessesOn(verbs, "verbs;ofi_rxm");
    }
  }

  private void twoProcessesOn(NicDouble nics, String provider) throws Exception {
    Map<String, String> environment = PluginUnderTest.environment(provider, "JOFI_FLUSH", "always");
    environment.putAll(nics.environment());
    plugin.good(environment, 11, "sizes,in-flight,groups,close-in-flight,again,flushes");
    nics.demandNoViolations();
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
        plugin.good(
            PluginUnderTest.environment(provider, "JOFI_FLUSH", "always", "JOFI_WARM_UP", "0"),
            11,
            "flushes");
    String said = cold.out() + cold.err();
    assertFalse(said.contains("warmed up"), said);
  }

  /** The table of NCCL 2.26 and 2.27. */
  @Test
  void version10WhichLoadsNothingOfJfr(@TempDir Path logs) throws Exception {
    String options = "%s -Xlog:class+load:file=%s/%%p".formatted(PluginUnderTest.JVM_OPTIONS, logs);
    plugin.good(
        PluginUnderTest.environment("tcp", "JOFI_JVM_OPTS", options),
        10,
        "sizes,groups,again,stale-handles");
    int processes = 0;
    try (DirectoryStream<Path> ofProcesses = Files.newDirectoryStream(logs)) {
      for (Path log : ofProcesses) {
        processes++;
        // That is the class which is asked whether anybody records.
        assertEquals(Set.of("jdk.jfr.FlightRecorder"), loadedOfJfr(log));
      }
    }
    assertTrue(processes > 0, "no process wrote what it loaded");
  }

  private static Set<String> loadedOfJfr(Path log) throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      return lines
          .map(JFR::matcher)
          .filter(Matcher::find)
          .map(Matcher::group)
          .collect(Collectors.toSet());
    }
  }

  /** The table of NCCL 2.30 and newer. */
  @Test
  @Tag("long")
  void version12() throws Exception {
    plugin.good(PluginUnderTest.environment("tcp"), 12, "sizes,groups,again,stale-handles");
  }

  /** NCCL 2.20 to 2.25. */
  @Test
  void olderOnesAreToldWhatTheyNeed() throws Exception {
    plugin.good(PluginUnderTest.environment("tcp"), 11, "older");
  }

  @Test
  void theHostStaysAsItWas() throws Exception {
    theHostStaysAsItWas("shm", 11);
  }

  @ParameterizedTest
  @CsvSource({"tcp, 12", "tcp, 11", "tcp, 10"})
  @Tag("long")
  void theHostStaysAsItWas(String provider, int version) throws Exception {
    plugin.good(
        PluginUnderTest.environment(provider, "JOFI_PROGRESS_THREADS", "always"),
        version,
        "host-unchanged");
  }

  @Test
  void aFaultOfTheProgramReachesItsHandler() throws Exception {
    plugin.good(PluginUnderTest.environment("shm"), 11, "faults-of-program");
  }

  /** What a JVM does by its signals from time to time, it does all the time here. */
  @Test
  @Tag("long")
  void theProgramMayResetTheHandlersOfFaults() throws Exception {
    assumeTrue(PluginUnderTest.isOnTheSystemsLibfabric(), "any libfabric will do for this");
    String options =
        "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:+HandshakeALot"
            + " -XX:GuaranteedSafepointInterval=1";
    plugin.good(
        PluginUnderTest.environment(
            "shm", "JOFI_PROGRESS_THREADS", "never", "JOFI_JVM_OPTS", options),
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
    plugin.good(PluginUnderTest.environment("tcp"), version, "foreign-jvm");
  }

  @Test
  void aThreadWithTooSmallAStackIsToldSo() throws Exception {
    plugin.good(PluginUnderTest.environment("tcp"), 11, "small-stacks");
  }

  /** One that a signal ended could not clean up; the next one that starts does. */
  @Test
  void programsThatEndWithoutFinalizeLeaveNoSharedMemory() throws Exception {
    Run killed =
        plugin.drive(
            PluginUnderTest.environment("shm"), plugin.library().toString(), 11, "killed-open");
    assertEquals(128 + 15, killed.code(), () -> killed.out() + killed.err());
    Run over =
        plugin.good(PluginUnderTest.environment("shm", "KILLED", process(killed)), 11, "exit-open");
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
    plugin.good(PluginUnderTest.environment("tcp"), 11, "early-calls");
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
        PluginUnderTest.environment(
            provider,
            "JOFI_PROGRESS_THREADS",
            progressThreads,
            "JOFI_REQUEST_TIMEOUT",
            "5",
            "JOFI_PEER_TIMEOUT",
            "3",
            "JOFI_CLOSE_TIMEOUT",
            "3");
    Run run = plugin.good(environment, 11, "peer-killed");
    assertTrue(run.out().contains("peer killed"), run::out);
    // Over sockets the connection may be reset before.
    assertTrue(
        provider.equals("tcp") || run.err().contains("The limit is peerTimeout (JOFI_PEER_TIMEOUT"),
        run::err);
  }
}
