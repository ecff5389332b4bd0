package org.jofi.cli;

import java.io.PrintWriter;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
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
    })
public final class Jofi implements Runnable {
  private static final Map<String, Class<?>> COMMANDS = new LinkedHashMap<>();

  static {
    COMMANDS.put("info", InfoCommand.class);
    COMMANDS.put("doctor", DoctorCommand.class);
    COMMANDS.put("perf", PerfCommand.class);
    COMMANDS.put("conform", ConformCommand.class);
    COMMANDS.put("verify-gpu", VerifyGpuCommand.class);
    COMMANDS.put("simulate", SimulateCommand.class);
    COMMANDS.put("nccl-plugin", NcclPluginCommand.class);
    COMMANDS.put("allreduce", AllReduceCommand.class);
    COMMANDS.put("collectives", CollectivesCommand.class);
    COMMANDS.put("soak", SoakCommand.class);
    COMMANDS.put("stat", StatCommand.class);
  }

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

  /** The names of all commands. */
  public static Set<String> commands() {
    return Collections.unmodifiableSet(COMMANDS.keySet());
  }

  /** Runs one command, and fails if its output could not be written. */
  static int run(StandardOutput output, String... args) {
    PrintWriter out = new PrintWriter(output, true, System.out.charset());
    CommandLine command = commandLine(args).setOut(out);
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

  /**
   * The command that a command line begins with; all, for one that begins otherwise. What a command
   * says of itself takes picocli a while to read, and most of them are not asked.
   */
  static CommandLine commandLine(String... args) {
    CommandLine commands = new CommandLine(new Jofi());
    String first = args.length == 0 ? "" : args[0];
    COMMANDS.forEach(
        (name, type) -> {
          if (name.equals(first) || !COMMANDS.containsKey(first)) {
            commands.addSubcommand(name, type);
          }
        });
    commands
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler((failure, command, parsed) -> explain(failure, command))
        .setParameterExceptionHandler((wrong, _) -> refuse(wrong))
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
