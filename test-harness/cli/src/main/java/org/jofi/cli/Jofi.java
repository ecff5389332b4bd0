package org.jofi.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The {@code jofi} command. */
@Command(
    name = "jofi",
    description = "Multi-rail libfabric transport for collective-communication libraries.",
    mixinStandardHelpOptions = true,
    version = "jofi 0.1.0")
public final class Jofi implements Runnable {
  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  /**
   * Runs one command and ends the process with its exit code: 0 done, 1 failed, 2 wrong usage, 3
   * missing environment.
   *
   * @param args the command line
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Jofi()).execute(args));
  }

  @Override
  public void run() {
    throw new CommandLine.ParameterException(spec.commandLine(), "missing command");
  }
}
