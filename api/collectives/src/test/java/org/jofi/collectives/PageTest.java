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
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The programs that docs/COLLECTIVES.md shows, as two processes. */
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
    List<String> said = run(0);
    assertEquals(List.of("rank 0 of 2 has 3", "rank 1 of 2 has 3"), said);
  }

  /** Two JVMs that compile it. */
  @Test
  @Tag("long")
  void theProgramOverTwoLevelsSaysWhichItUses() throws Exception {
    for (String said : run(1)) {
      assertEquals("2 ranks on 1 host (2) shm", said);
    }
  }

  /** Runs one of the programs; what each of two ranks says. */
  private List<String> run(int program) throws Exception {
    Matcher found = PROGRAM.matcher(Files.readString(PAGE));
    for (int i = 0; i <= program; i++) {
      assertTrue(found.find(), "COLLECTIVES.md does not show so many programs");
    }
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
    List<String> lines = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      try (BufferedReader said = processes.get(rank).inputReader()) {
        lines.add(said.lines().collect(Collectors.joining(" ")));
      }
      assertTrue(processes.get(rank).waitFor(60, TimeUnit.SECONDS));
      assertEquals(0, processes.get(rank).exitValue(), lines.getLast());
    }
    return lines;
  }
}
