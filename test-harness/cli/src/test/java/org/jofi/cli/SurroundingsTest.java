package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code jofi allreduce} inside what containers and batch systems put around it. */
@Timeout(120)
class SurroundingsTest {
  private static final long BOUND_SECONDS = 60;

  @TempDir private Path folder;

  /** Control groups that a test made; what is in them ends before. */
  private final List<Path> groups = new ArrayList<>();

  @AfterEach
  void removeGroups() throws IOException {
    for (Path group : groups) {
      Files.delete(group);
    }
  }

  private CommandProcess.Outcome run(List<String> before, String... arguments) throws Exception {
    return CommandProcess.run(folder, inside(before, arguments));
  }

  private static ProcessBuilder inside(List<String> before, String... arguments) {
    ProcessBuilder builder = CommandProcess.builder(Map.of(), arguments);
    List<String> command = new ArrayList<>(before);
    command.addAll(builder.command());
    return builder.command(command);
  }

  private static void needs(String... command) throws Exception {
    Process process = new ProcessBuilder(command).start();
    boolean works = process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
    assumeTrue(works, "not permitted here: " + String.join(" ", command));
  }

  /** With so much of shared memory, of which nothing is in use. */
  private static List<String> sharedMemory(int mebibytes) throws Exception {
    String mount = "mount -t tmpfs -o size=%dm tmpfs /dev/shm".formatted(mebibytes);
    needs("unshare", "-m", "sh", "-c", mount);
    return List.of("unshare", "-m", "sh", "-c", mount + " && exec \"$@\"", "sh");
  }

  /** Too little for what ranks take at once, where the kernel would kill each; or for libfabric. */
  @ParameterizedTest
  @CsvSource({"34, 8", "6, 1"})
  void tooLittleSharedMemoryIsRefused(int mebibytes, int ranks) throws Exception {
    assertRefusesSharedMemory(mebibytes, ranks, "--rank-threads");
  }

  /** Those that look at the same time count each other. */
  @Test
  @Tag("long")
  void tooLittleSharedMemoryForProcessesIsRefused() throws Exception {
    assertRefusesSharedMemory(36, 7, "--prepare=0");
  }

  private void assertRefusesSharedMemory(int mebibytes, int ranks, String option) throws Exception {
    CommandProcess.Outcome outcome =
        run(
            sharedMemory(mebibytes),
            "allreduce",
            "-p",
            "shm",
            "-n",
            Integer.toString(ranks),
            "-s",
            "8",
            option);
    // libfabric lists shm no more where each processor's endpoint would not fit.
    assertTrue(outcome.code() == 1 || outcome.code() == 3, outcome.err());
    assertFalse(outcome.err().contains("signal"), outcome.err());
    assertTrue(
        outcome.err().contains("of whose %d MiB".formatted(mebibytes))
            && outcome.err().contains("--shm-size"),
        outcome.err());
  }

  /** Each begins to count its processes at 1. */
  @Test
  void containersOfEqualProcessNumbersShareMemory() throws Exception {
    List<String> container = List.of("unshare", "--pid", "--fork", "--mount-proc");
    needs("unshare", "--pid", "--fork", "--mount-proc", "true");
    List<Process> runs = new ArrayList<>();
    try {
      for (int i = 0; i < 2; i++) {
        ProcessBuilder one =
            inside(
                container,
                "allreduce",
                "-p",
                "shm",
                "-n",
                "2",
                "-s",
                "1M",
                "-k",
                "200",
                "--prepare=0");
        runs.add(
            one.redirectErrorStream(true)
                .redirectOutput(folder.resolve("run-" + i).toFile())
                .start());
      }
      for (int i = 0; i < 2; i++) {
        assertTrue(runs.get(i).waitFor(BOUND_SECONDS, TimeUnit.SECONDS), "it hangs");
        assertEquals(0, runs.get(i).exitValue(), Files.readString(folder.resolve("run-" + i)));
      }
    } finally {
      runs.forEach(Process::destroyForcibly);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "tcp"})
  void aChoiceOfTheSiteIsNamed(String chosen) throws Exception {
    ProcessBuilder builder =
        CommandProcess.builder(
            Map.of("FI_PROVIDER", chosen), "allreduce", "-p", "shm", "-n", "1", "-s", "8");
    CommandProcess.Outcome outcome = CommandProcess.run(folder, builder);
    assertNotEquals(0, outcome.code());
    assertTrue(outcome.err().contains("FI_PROVIDER='" + chosen + "' limits"), outcome.err());
  }

  @Test
  @Tag("long")
  void portsThatAreNoneAreRefusedAndTooFewTold() throws Exception {
    CommandProcess.Outcome none =
        CommandProcess.run(
            folder, Map.of("JOFI_PORTS", "9-1"), "allreduce", "-n", "1", "-s", "8", "--prepare=0");
    assertEquals(ExitCode.ENVIRONMENT, none.code(), none.err());
    assertTrue(none.err().contains("JOFI_PORTS='9-1'"), none.err());
    CommandProcess.Outcome few =
        CommandProcess.run(
            folder, Map.of(), "allreduce", "-n", "2", "-s", "8", "--ports=13001-13003");
    assertEquals(ExitCode.FAILED, few.code(), few.err());
    assertTrue(
        few.err().contains("none of the 3 ports of JOFI_PORTS=13001-13003 is free")
            && !few.err().contains("choose others with -d"),
        few.err());
  }

  @Test
  void theMemoryThatAGroupLimitsIsNotExceeded() throws Exception {
    Path group = limitedGroup("memory", "memory.limit_in_bytes", "memory.max", "600M");
    CommandProcess.Outcome outcome =
        runIn(group, "allreduce", "-n", "2", "-s", "512M", "--prepare=0");
    assertNotEquals(0, outcome.code());
    assertTrue(
        outcome.err().contains("not enough memory: 2 rank(s)")
            && outcome.err().contains("the limit of this container or job (" + group),
        outcome.err());
  }

  /** The command's own threads, and half of those of two ranks. */
  @Test
  void theProcessesThatAGroupLimitsAreNotExceeded() throws Exception {
    Path group = limitedGroup("pids", "pids.max", "pids.max", "45");
    assertRefusesProcesses(
        runIn(group, "allreduce", "-n", "2", "-s", "8", "--prepare=0"),
        "; the limit of this container or job (" + group + "/pids.max) leaves ",
        45);
  }

  @Test
  void theProcessesThatAUserMayHaveAreNotExceeded() throws Exception {
    List<String> user =
        List.of(
            "prlimit",
            "--nproc=45",
            "setpriv",
            "--reuid=54321",
            "--regid=54321",
            "--clear-groups",
            "--inh-caps=-all,+dac_read_search",
            "--ambient-caps=-all,+dac_read_search");
    List<String> trial = new ArrayList<>(user);
    trial.add("true");
    needs(trial.toArray(String[]::new));
    assertRefusesProcesses(
        run(user, "allreduce", "-n", "2", "-s", "8", "--prepare=0"),
        "; this user's limit on processes (ulimit -u) leaves ",
        45);
  }

  private static void assertRefusesProcesses(
      CommandProcess.Outcome outcome, String limit, int most) {
    assertEquals(3, outcome.code(), outcome.err());
    assertTrue(
        outcome.err().startsWith("jofi: not enough processes: 2 rank(s) here need ")
            && outcome.err().contains(limit)
            && outcome.err().contains(" of %d%n".formatted(most))
            && outcome.err().contains("docs/TROUBLESHOOTING.md#no-nic-or-no-room"),
        outcome.err());
  }

  /** More ranks, as threads, than there may be. */
  @Test
  @Tag("long")
  void aThreadThatCannotBeStartedIsLaidToTheLimit() throws Exception {
    Path group = limitedGroup("pids", "pids.max", "pids.max", "60");
    CommandProcess.Outcome outcome =
        runIn(group, "allreduce", "-p", "sim:tcp", "-n", "64", "-s", "8");
    assertEquals(3, outcome.code(), outcome.err());
    assertTrue(
        outcome
            .err()
            .contains(
                "no more threads may be started: the limit of this container or job ("
                    + group
                    + "/pids.max) leaves "),
        outcome.err());
  }

  @Test
  @Tag("long")
  void ranksThatShareFewerProcessorsAreTold() throws Exception {
    Path group = limitedGroup("cpu", "cpu.cfs_quota_us", "cpu.max", "150000");
    CommandProcess.Outcome outcome = runIn(group, "allreduce", "-n", "2", "-s", "8", "--prepare=0");
    assertEquals(0, outcome.code(), outcome.err());
    assertTrue(
        outcome
            .err()
            .startsWith(
                "2 ranks take turns on 1.5 processors, the limit of this container or job ("
                    + group),
        outcome.err());
  }

  private CommandProcess.Outcome runIn(Path group, String... arguments) throws Exception {
    List<String> join =
        List.of("sh", "-c", "echo $$ > " + group.resolve("cgroup.procs") + " && exec \"$@\"", "sh");
    return run(join, arguments);
  }

  /** A control group of its own, of either version. */
  private Path limitedGroup(String controller, String first, String second, String limit)
      throws IOException {
    String name = "jofi-test-%d-%d".formatted(ProcessHandle.current().pid(), System.nanoTime());
    for (String[] version :
        new String[][] {{"/sys/fs/cgroup/" + controller, first}, {"/sys/fs/cgroup", second}}) {
      Path group = Path.of(version[0], name);
      try {
        Files.createDirectory(group);
      } catch (IOException e) {
        continue;
      }
      try {
        Files.writeString(group.resolve(version[1]), limit);
        groups.add(group);
        return group;
      } catch (IOException e) {
        Files.delete(group);
      }
    }
    return abort("no control group of " + controller + " can be made here");
  }
}
