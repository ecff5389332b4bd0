package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program that docs/COLLECTIVES.md shows, as two processes. */
@Timeout(120)
class PageTest {
  /** Surefire runs tests in the module's folder. */
  private static final Path PAGE = Path.of("..", "..", "docs", "COLLECTIVES.md");

  private static final Pattern PROGRAM =
      Pattern.compile("```java\n(import .*?void main\\(\\) \\{\n.*?)```\n", Pattern.DOTALL);

  @TempDir private Path folder;

  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void endProcesses() {
    processes.forEach(Process::destroyForcibly);
  }

  @Test
  void theProgramReduces() throws Exception {
    Matcher found = PROGRAM.matcher(Files.readString(PAGE));
    assertTrue(found.find(), "COLLECTIVES.md shows no program");
    Path source = Files.writeString(folder.resolve("Gradients.java"), found.group(1));
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    for (int rank = 0; rank < 2; rank++) {
      ProcessBuilder builder =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-XX:+UseSerialGC",
                  "--enable-native-access=ALL-UNNAMED",
                  "-cp",
                  System.getProperty("java.class.path"),
                  source.toString())
              .redirectErrorStream(true);
      builder
          .environment()
          .putAll(
              Map.of(
                  "RANK",
                  "" + rank,
                  "WORLD_SIZE",
                  "2",
                  "MASTER_ADDR",
                  "127.0.0.1",
                  "MASTER_PORT",
                  "" + port));
      processes.add(builder.start());
    }
    for (int rank = 0; rank < 2; rank++) {
      try (BufferedReader said = processes.get(rank).inputReader()) {
        assertEquals("rank %d of 2 has 3".formatted(rank), said.readLine());
      }
      assertTrue(processes.get(rank).waitFor(60, TimeUnit.SECONDS));
      assertEquals(0, processes.get(rank).exitValue());
    }
  }
}
