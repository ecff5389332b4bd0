package org.jofi.cli;

import java.io.PrintWriter;
import org.jofi.cli.ranks.BootstrapException;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The {@code jofi} command. */
@Command(
    name = "jofi",
    description = "Multi-rail libfabric transport for collective-communication libraries.",
    mixinStandardHelpOptions = true,
    version = "jofi 0.1.0",
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:it ran, and failed",
      "2:wrong usage",
      "3:something is missing on this machine"
    },
    subcommands = {
      InfoCommand.class,
      DoctorCommand.class,
      PerfCommand.class,
      ConformCommand.class,
      VerifyGpuCommand.class,
      SimulateCommand.class,
      NcclPluginCommand.class,
      AllReduceCommand.class
    })
public final class Jofi implements Runnable {
  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  /** For picocli. */
  public Jofi() {}

  /**
   * Runs one command and ends the process with its exit code: 0 done, 1 failed, 2 wrong usage, 3
   * missing environment.
   *
   * @param args the command line
   */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Jofi())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler((failure, command, parsed) -> explain(failure, command));
  }

  /** What users are meant to see goes without a stack trace; the rest is a defect, and keeps it. */
  private static int explain(Exception failure, CommandLine command) throws Exception {
    PrintWriter err = command.getErr();
    if (failure instanceof FabricUnavailableException) {
      err.println(failure.getMessage());
      err.flush();
      return ExitCode.ENVIRONMENT;
    }
    if (failure instanceof TransportException transport) {
      err.println("jofi: " + failure.getMessage());
      err.flush();
      return transport.failure() == FailureCause.UNAVAILABLE
          ? ExitCode.ENVIRONMENT
          : ExitCode.FAILED;
    }
    if (failure instanceof FabricException || failure instanceof BootstrapException) {
      err.println("jofi: " + failure.getMessage());
      err.flush();
      return ExitCode.FAILED;
    }
    throw failure;
  }

  @Override
  public void run() {
    throw new CommandLine.ParameterException(spec.commandLine(), "missing command");
  }
}
