package org.jofi.cli;

import java.io.PrintWriter;
import java.io.Writer;
import org.jofi.cli.ranks.RankProcesses;
import org.jofi.cli.ranks.SharedMemory;

/**
 * What a start cache is made of (JEP 483): a program that does what commands and their ranks do at
 * their start, in one process, so that a JVM that records it has loaded what they load.
 */
public final class StartTraining {
  private static final String EXCHANGE =
      "allreduce --rank-threads -n 2 -s 4,64K -k 3 --prepare=0 -p ";

  private StartTraining() {}

  /**
   * Runs them, one after another, and prints the exit code of each.
   *
   * @param args nothing
   */
  public static void main(String[] args) {
    SharedMemory.clearAtEnd();
    load(RankProcesses.class);
    run("--help");
    run("info");
    run("stat");
    // Without libfabric, over what needs none.
    if (run(EXCHANGE + "shm") != ExitCode.OK) {
      run(EXCHANGE + "sim:tcp");
    }
    run("perf --rank-threads -p shm -b 4 -e 4 -n 20 -w 2 --prepare=0 --json");
    System.exit(0);
  }

  private static int run(String command) {
    String[] words = command.split(" ", -1);
    int code =
        Jofi.commandLine(words)
            .setOut(new PrintWriter(Writer.nullWriter()))
            .setErr(new PrintWriter(System.out, true, System.out.charset()))
            .execute(words);
    System.out.println(code + " " + command);
    return code;
  }

  /** What only a command loads that starts ranks as processes. */
  private static void load(Class<?> type) {
    try {
      Class.forName(type.getName(), true, type.getClassLoader());
    } catch (ClassNotFoundException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
