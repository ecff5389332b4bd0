package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Processes of which one after the other is killed amid an operation. Five JVMs for each fabric;
 * over two levels, the last of them is alone on its host, and the one before shares its host.
 */
@Tag("long")
@Timeout(240)
class KilledRankTest {
  private static final int RANKS = 5;

  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void endProcesses() {
    processes.forEach(Process::destroyForcibly);
  }

  @ParameterizedTest
  @CsvSource({"net,3", "shm,1", "net+shm,2"})
  void theOthersLearnWhoItWasAndGoOn(String provider, int losses) throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    List<BufferedReader> said = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      said.add(start(rank, port, provider, losses));
    }
    int left = RANKS;
    for (String kind : List.of("all-reduce", "broadcast", "all-to-all").subList(0, losses)) {
      for (int rank = 0; rank < left; rank++) {
        assertEquals("in " + kind, next(said.get(rank)));
      }
      left--;
      processes.get(left).destroyForcibly();
      for (int rank = 0; rank < left; rank++) {
        String lost = next(said.get(rank));
        assertTrue(lost.startsWith("lost " + left + " after "), lost);
        int seconds = Integer.parseInt(lost.split(" ", -1)[3]);
        assertTrue(seconds <= 20, lost);
      }
    }
    for (int rank = 0; rank < left; rank++) {
      assertEquals("left: " + left, next(said.get(rank)));
      assertTrue(processes.get(rank).waitFor(60, TimeUnit.SECONDS));
      assertEquals(0, processes.get(rank).exitValue());
    }
  }

  /** The next line that is the rank's own, since the transport tells of lost peers in between. */
  private static String next(BufferedReader from) throws IOException {
    StringBuilder others = new StringBuilder();
    for (String line = from.readLine(); line != null; line = from.readLine()) {
      if (line.matches("(in|lost|left:) .*")) {
        return line;
      }
      others.append(line).append('\n');
    }
    return "nothing more after: " + others;
  }

  private BufferedReader start(int rank, int port, String provider, int losses) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                GroupMain.class.getName(),
                provider,
                "" + losses)
            .redirectErrorStream(true);
    // As a script sets them: the first rank serves the others.
    builder
        .environment()
        .putAll(
            Map.of(
                "RANK", "" + rank,
                "WORLD_SIZE", "" + RANKS,
                "MASTER_ADDR", "127.0.0.1",
                "MASTER_PORT", "" + port));
    Process process = builder.start();
    processes.add(process);
    return process.inputReader();
  }
}
