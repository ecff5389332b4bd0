package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code jofi perf} with one side on the system's libfabric and one on libfabric 2.1: as where a
 * container or a module brings another than the host's.
 */
@Timeout(120)
@Tag("long")
@Tag("two-libfabrics")
class TwoLibrariesTest {
  private static final long BOUND_SECONDS = 60;

  @TempDir private Path folder;

  @BeforeAll
  static void needsBoth() {
    assumeTrue(
        !System.getProperty("jofi.test.java", "").isEmpty()
            && !System.getProperty("jofi.libfabric", "").isEmpty(),
        "runs in the pass on libfabric 2.1");
  }

  /** Both sides: the one that listens is on the system's library. */
  private List<CommandProcess.Outcome> run(List<String> old, List<String> recent) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    ProcessBuilder listening =
        onTheSystems(CommandProcess.builder(Map.of(), words(old, "--listen", "--port=" + port)));
    ProcessBuilder connecting =
        CommandProcess.builder(Map.of(), words(recent, "--connect", "127.0.0.1:" + port));
    Process one = start(listening, "one");
    Process other = start(connecting, "other");
    try {
      assertTrue(one.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), "it hangs");
      assertTrue(other.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), "it hangs");
      return List.of(side(one, "one"), side(other, "other"));
    } finally {
      one.destroyForcibly();
      other.destroyForcibly();
    }
  }

  /** A process that takes the system's library, and the Java that goes with it. */
  private static ProcessBuilder onTheSystems(ProcessBuilder builder) {
    builder.command().set(0, Path.of(System.getProperty("java.home"), "bin", "java").toString());
    builder
        .command()
        .replaceAll(
            word ->
                word.startsWith("-Djofi.libfabric=")
                    ? "-Djofi.libfabric="
                    : word.startsWith("-Djofi.java=") ? "-Djofi.java=" : word);
    return builder;
  }

  private static ProcessBuilder handles(String... arguments) {
    ProcessBuilder builder = CommandProcess.builder(Map.of(), arguments);
    builder
        .command()
        .replaceAll(word -> word.equals(Jofi.class.getName()) ? HandleMain.class.getName() : word);
    return builder;
  }

  /** What a connector on libfabric 2.1 says to a handle of a listener on the system's library. */
  private String answer(String listens, String connects) throws Exception {
    Process listening =
        onTheSystems(handles(listens)).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader said = listening.inputReader(StandardCharsets.UTF_8)) {
      CommandProcess.Outcome outcome =
          CommandProcess.run(folder, handles(connects, String.valueOf(said.readLine())));
      assertEquals(0, outcome.code(), outcome.err());
      listening.getOutputStream().close();
      assertTrue(listening.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), "it hangs");
      assertEquals(0, listening.exitValue());
      return outcome.out().strip();
    } finally {
      listening.destroyForcibly();
    }
  }

  private static String[] words(List<String> options, String... meeting) {
    return Stream.of(
            List.of("perf", "-b", "8", "-e", "8", "-n", "20", "--prepare=0", "--json"),
            options,
            List.of(meeting))
        .flatMap(List::stream)
        .toArray(String[]::new);
  }

  private Process start(ProcessBuilder builder, String name) throws Exception {
    return builder
        .redirectOutput(folder.resolve(name + ".out").toFile())
        .redirectError(folder.resolve(name + ".err").toFile())
        .start();
  }

  private CommandProcess.Outcome side(Process process, String name) throws Exception {
    return new CommandProcess.Outcome(
        process.exitValue(),
        Files.readString(folder.resolve(name + ".out")),
        Files.readString(folder.resolve(name + ".err")));
  }

  private static void assertMeasured(List<CommandProcess.Outcome> sides) {
    for (CommandProcess.Outcome side : sides) {
      assertEquals(0, side.code(), side.err());
    }
    assertEquals(
        0,
        JsonParser.parseString(sides.getFirst().out()).getAsJsonObject().get("errors").getAsLong());
  }

  private static void assertRefused(List<CommandProcess.Outcome> sides, String... words) {
    for (CommandProcess.Outcome side : sides) {
      assertEquals(1, side.code(), side.err());
      for (String word : words) {
        assertTrue(side.err().contains(word), side.err());
      }
      assertTrue(
          side.err().contains("libfabric 1.") && side.err().contains("libfabric 2."), side.err());
    }
  }

  /** libfabric 1 calls net what libfabric 2 calls tcp; each is the default there. */
  @Test
  void whatIsTheSameOnTheWireIsConnected() throws Exception {
    assertMeasured(run(List.of("-p", "net"), List.of()));
  }

  @Test
  void sharedMemoryOfAnotherVersionIsRefused() throws Exception {
    assertRefused(run(List.of("-p", "shm"), List.of("-p", "shm")), "has different formats");
  }

  /** Programs and the plugin exchange handles, and nothing else. */
  @Test
  void aHandleTellsWhatTheListenerSpeaks() throws Exception {
    assertEquals("connected", answer("net", "tcp"));
    String memory = answer("shm", "shm");
    assertTrue(
        memory.startsWith(HandleMain.REFUSED)
            && memory.contains("(shm of libfabric 1.17) from device shm (shm of libfabric 2.1)")
            && memory.contains("has different formats"),
        memory);
    String layered = answer("tcp", "tcp");
    assertTrue(
        layered.startsWith(HandleMain.REFUSED)
            && layered.contains("(tcp;ofi_rxm of libfabric 1.17)")
            && layered.contains("(tcp of libfabric 2.1)"),
        layered);
  }

  @Test
  void oneNameForTwoThingsIsRefused() throws Exception {
    assertRefused(
        run(List.of("-p", "tcp"), List.of("-p", "tcp")),
        "providers tcp and tcp;ofi_rxm do not understand each other");
  }
}
