package org.jofi.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ranks that are processes, as somebody's launcher or program starts them. */
@Timeout(120)
class RankProcessTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Surefire runs tests in the module's folder. */
  private static final Path PAGE = Path.of("..", "..", "docs", "RANKS.md");

  private static final Pattern PROGRAM =
      Pattern.compile("```java\n(import .*?void main\\(\\) \\{\n.*?)```\n", Pattern.DOTALL);

  @TempDir private Path folder;

  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void endProcesses() {
    processes.forEach(Process::destroyForcibly);
  }

  private BufferedReader start(String program, String classPath, Map<String, String> variables)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx64m",
                "-cp",
                classPath,
                program)
            .redirectErrorStream(true);
    builder.environment().putAll(variables);
    Process process = builder.start();
    processes.add(process);
    return process.inputReader();
  }

  private static void expect(BufferedReader from, String line) throws IOException {
    assertEquals(line, from.readLine());
  }

  /** Killed with kill -9, which leaves it no last word. */
  @Test
  void theOthersLearnOfAKilledRankAndGoOn() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    List<BufferedReader> said = new ArrayList<>();
    for (int rank = 0; rank < 3; rank++) {
      Map<String, String> variables =
          Map.of(
              "RANK",
              "" + rank,
              "WORLD_SIZE",
              "3",
              "MASTER_ADDR",
              "127.0.0.1",
              "MASTER_PORT",
              "" + port,
              JoinOptions.SECRET_VARIABLE,
              "of these processes");
      said.add(start(RankMain.class.getName(), System.getProperty("java.class.path"), variables));
    }
    for (int rank = 0; rank < 3; rank++) {
      expect(said.get(rank), "joined as rank " + rank + " of 3");
    }
    processes.get(1).destroyForcibly();
    for (int rank : List.of(0, 2)) {
      String lost = String.valueOf(said.get(rank).readLine());
      assertTrue(lost.startsWith("lost 1: rank 1 failed: its connection ended"), lost);
      expect(said.get(rank), "goes on as rank " + (rank / 2) + " of 2");
    }
    // The one that serves: nobody can go on.
    processes.get(0).destroyForcibly();
    String end = String.valueOf(said.get(2).readLine());
    assertTrue(end.contains("lost the bootstrap server at 127.0.0.1:" + port), end);
    assertTrue(processes.get(2).waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, processes.get(2).exitValue());
  }

  /** The program that the page shows, as a process of a program that serves it. */
  @Test
  void theProgramOfThePageRuns() throws Exception {
    Matcher found = PROGRAM.matcher(Files.readString(PAGE));
    assertTrue(found.find(), "RANKS.md shows no program");
    Path source = Files.writeString(folder.resolve("Steps.java"), found.group(1));
    try (RankServer server =
        RankServer.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            1,
            JoinOptions.defaults().withSecret("of the program"),
            PATIENCE,
            RankServer.Watch.CONNECTIONS)) {
      Map<String, String> variables =
          new HashMap<>(Placement.of(0, 1, "127.0.0.1", server.port()).environment());
      variables.put(JoinOptions.SECRET_VARIABLE, "of the program");
      BufferedReader said =
          start(source.toString(), System.getProperty("java.class.path"), variables);
      expect(said, "done as rank 0 of 1");
      assertTrue(processes.getFirst().waitFor(60, TimeUnit.SECONDS));
      assertEquals(0, processes.getFirst().exitValue());
      assertEquals(0, server.refused());
    }
  }
}
