package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How processes of {@code jofi allreduce} end that somebody ends. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class AllReduceEndTest {
  @TempDir private Path folder;

  /** A run of more rounds than anybody waits for. */
  private final class LongRun implements AutoCloseable {
    private final int size;
    private final Path err = folder.resolve("err");
    private final BufferedReader out;
    final Process parent;

    LongRun(int size, String... more) throws IOException {
      this.size = size;
      List<String> arguments =
          new ArrayList<>(List.of("allreduce", "-s", "1M", "-k", "1000000", "--prepare=0"));
      arguments.addAll(List.of("--ranks", Integer.toString(size)));
      arguments.addAll(List.of(more));
      parent =
          CommandProcess.builder(Map.of(), arguments.toArray(String[]::new))
              .redirectError(err.toFile())
              .start();
      out =
          new BufferedReader(
              new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8));
    }

    List<ProcessHandle> ranksThatRun() throws IOException {
      String line = out.readLine();
      while (line != null && !line.contains("SIZE")) {
        line = out.readLine();
      }
      assertTrue(line != null, "it ended early: " + errors());
      List<ProcessHandle> ranks = parent.children().toList();
      assertEquals(size, ranks.size());
      return ranks;
    }

    String errors() throws IOException {
      return Files.readString(err);
    }

    @Override
    public void close() {
      parent.descendants().forEach(ProcessHandle::destroyForcibly);
      parent.destroyForcibly();
    }
  }

  @Test
  void aKilledRankEndsTheOthersAndIsNamed() throws Exception {
    assertThatAKilledRankIsNamed(2, "shm", "auto");
  }

  @ParameterizedTest
  @CsvSource({"3, net, ring", "4, net, doubling"})
  @Tag("long")
  void aKilledRankEndsMoreOthersAndIsNamed(int size, String provider, String algorithm)
      throws Exception {
    assertThatAKilledRankIsNamed(size, provider, algorithm);
  }

  private void assertThatAKilledRankIsNamed(int size, String provider, String algorithm)
      throws Exception {
    try (LongRun run = new LongRun(size, "-p", provider, "--algorithm", algorithm)) {
      List<ProcessHandle> ranks = run.ranksThatRun();
      ProcessHandle killed = ranks.get(1);
      assertTrue(killed.destroyForcibly());
      assertTrue(run.parent.waitFor(60, TimeUnit.SECONDS), "it does not end");
      assertEquals(ExitCode.FAILED, run.parent.exitValue());
      String said = run.errors();
      assertTrue(
          said.contains("(process %d) was killed by signal 9".formatted(killed.pid())), said);
      // Which rank that was only the run knows: process ids may wrap between two of them.
      Matcher named =
          Pattern.compile("rank (\\d) \\(process %d\\)".formatted(killed.pid())).matcher(said);
      assertTrue(named.find(), said);
      String which = named.group(1);
      assertTrue(
          said.matches("(?s).*rank [^%s] stopped: rank %s failed.*".formatted(which, which)), said);
      assertFalse(said.contains("\tat "), said);
      for (ProcessHandle rank : ranks) {
        assertFalse(rank.isAlive(), "an orphan: " + rank.pid());
      }
    }
  }

  /** As Ctrl-C does, which all processes get at once; its own signal is ignored in some shells. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsEndedLeavesNoSharedMemory(boolean ranksToo) throws Exception {
    try (LongRun run = new LongRun(2, "-p", "shm")) {
      List<ProcessHandle> ranks = run.ranksThatRun();
      assertFalse(sharedMemory(ranks).isEmpty(), "nothing there to begin with");
      run.parent.destroy();
      if (ranksToo) {
        ranks.forEach(ProcessHandle::destroy);
      }
      assertTrue(run.parent.waitFor(60, TimeUnit.SECONDS), "it does not end");
      for (ProcessHandle rank : ranks) {
        rank.onExit().get(60, TimeUnit.SECONDS);
      }
      assertEquals(List.of(), sharedMemory(ranks));
    }
  }

  private static List<String> sharedMemory(List<ProcessHandle> ranks) throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> ranks.stream().anyMatch(rank -> name.startsWith(rank.pid() + ":")))
          .toList();
    }
  }

  @Test
  void ranksEndWithWhoStartedThem() throws Exception {
    try (LongRun run = new LongRun(2)) {
      List<ProcessHandle> ranks = run.ranksThatRun();
      run.parent.destroyForcibly();
      for (ProcessHandle rank : ranks) {
        rank.onExit().get(60, TimeUnit.SECONDS);
      }
    }
  }
}
