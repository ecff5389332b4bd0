package org.jofi.cli;

import java.io.PrintWriter;
import org.jofi.cli.ranks.FabricEnd;
import org.jofi.cli.ranks.SharedMemory;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.ranks.RanksException;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The {@code jofi} command. */
@Command(
    name = "jofi",
    description = "Multi-rail libfabric transport for collective-communication libraries.",
    mixinStandardHelpOptions = true,
    version = FabricEnd.JOFI,
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
      AllReduceCommand.class,
      SoakCommand.class,
      StatCommand.class
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
    SharedMemory.clearAtEnd();
    System.exit(run(new StandardOutput(), args));
  }

  /** Runs one command, and fails if its output could not be written. */
  static int run(StandardOutput output, String... args) {
    PrintWriter out = new PrintWriter(output, true, System.out.charset());
    CommandLine command = commandLine().setOut(out);
    int code = execute(command, args);
    out.flush();
    String loss = output.loss();
    if (loss.isEmpty()) {
      return code;
    }
    command.getErr().println("jofi: standard output cannot be written: " + loss);
    command.getErr().flush();
    return code == ExitCode.OK ? ExitCode.FAILED : code;
  }

  private static int execute(CommandLine command, String... args) {
    try {
      return command.execute(args);
    } catch (OutOfMemoryError failure) {
      command.getErr().println("jofi: " + MachineProcesses.explain(failure));
      command.getErr().flush();
      return ExitCode.ENVIRONMENT;
    }
  }

  static CommandLine commandLine() {
    CommandLine commands =
        new CommandLine(new Jofi())
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setExecutionExceptionHandler((failure, command, parsed) -> explain(failure, command))
            .setParameterExceptionHandler((wrong, args) -> refuse(wrong))
            .setExecutionStrategy(Jofi::runKnown);
    String[] version = commands.getCommandSpec().version();
    commands.getSubcommands().values().forEach(each -> each.getCommandSpec().version(version));
    return commands;
  }

  /** An unknown command is wrong usage, even together with --help or --version. */
  private static int runKnown(CommandLine.ParseResult parsed) {
    if (!parsed.hasSubcommand() && !parsed.unmatched().isEmpty()) {
      throw new CommandLine.UnmatchedArgumentException(
          parsed.commandSpec().commandLine(), parsed.unmatched());
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  /** Prints what is wrong with the command line, and where to find its usage. */
  private static int refuse(CommandLine.ParameterException wrong) {
    CommandLine command = wrong.getCommandLine();
    PrintWriter err = command.getErr();
    if (wrong instanceof CommandLine.UnmatchedArgumentException unmatched
        && command.getParent() == null
        && !unmatched.isUnknownOption()) {
      err.println("unknown command: " + unmatched.getUnmatched().getFirst());
    } else {
      err.println(wrong.getMessage());
    }
    CommandLine.UnmatchedArgumentException.printSuggestions(wrong, err);
    err.printf("see %s --help%n", command.getCommandSpec().qualifiedName());
    err.flush();
    return ExitCode.USAGE;
  }

  /**
   * Prints failures that are meant for users without a stack trace. Every other exception is a
   * defect and keeps its stack trace.
   */
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
      return transport.failure().cause() == FailureCause.UNAVAILABLE
          ? ExitCode.ENVIRONMENT
          : ExitCode.FAILED;
    }
    if (failure instanceof FabricException || failure instanceof RanksException) {
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
