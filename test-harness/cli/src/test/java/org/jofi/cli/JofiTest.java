package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What all commands have in common. */
@Timeout(60)
class JofiTest {
  @TempDir private Path folder;

  private static final class Broken extends OutputStream {
    private final String reason;

    Broken(String reason) {
      this.reason = reason;
    }

    @Override
    public void write(int single) throws IOException {
      throw new IOException(reason);
    }
  }

  @Test
  void everyCommandHasTheVersion() {
    Set<String> commands = Jofi.commandLine().getSubcommands().keySet();
    assertTrue(commands.size() >= 8, commands::toString);
    for (String command : commands) {
      CommandProcess.Outcome outcome = CommandProcess.runHere(command, "-V");
      assertEquals(0, outcome.code(), outcome.err());
      assertTrue(outcome.out().startsWith("jofi "), command + ": " + outcome.out());
    }
  }

  /** Each by the name that it says itself. */
  @Test
  void ofAllCommandsOnlyTheOneThatIsAskedIsRead() {
    Map<String, CommandLine> all = Jofi.commandLine("nosuch").getSubcommands();
    assertEquals(Jofi.commands(), all.keySet());
    all.forEach(
        (name, command) -> {
          Class<?> type = command.getCommandSpec().userObject().getClass();
          assertEquals(type.getAnnotation(CommandLine.Command.class).name(), name);
          assertEquals(Set.of(name), Jofi.commandLine(name, "-x").getSubcommands().keySet());
        });
    assertEquals(Jofi.commands(), Jofi.commandLine("--help").getSubcommands().keySet());
  }

  @Test
  void anUnknownCommandIsWrongUsageEvenWhenHelpIsAskedFor() {
    for (String[] arguments : new String[][] {{"nosuch"}, {"nosuch", "--help"}, {"nosuch", "-V"}}) {
      CommandProcess.Outcome outcome = CommandProcess.runHere(arguments);
      assertEquals(ExitCode.USAGE, outcome.code());
      assertEquals("", outcome.out());
      assertTrue(outcome.err().startsWith("unknown command: nosuch\n"), outcome.err());
    }
    assertEquals(0, CommandProcess.runHere("--help").code());
    assertEquals(0, CommandProcess.runHere("info", "--help").code());
  }

  @Test
  void wrongUsageIsToldInTwoLines() {
    CommandProcess.Outcome outcome = CommandProcess.runHere("allreduce", "--ranks", "0");
    assertEquals(ExitCode.USAGE, outcome.code());
    assertEquals("--ranks must be 1 to 64, is 0\nsee jofi allreduce --help\n", outcome.err());
  }

  @Test
  void outputThatIsLostIsAFailure() throws Exception {
    CommandProcess.Outcome outcome = CommandProcess.run(folder, Map.of(), "--version");
    assertEquals(0, outcome.code(), outcome.err());
    Process process =
        CommandProcess.builder(Map.of(), "--help")
            .redirectOutput(new File("/dev/full"))
            .redirectErrorStream(false)
            .start();
    String said = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(ExitCode.FAILED, process.waitFor());
    assertEquals("jofi: standard output cannot be written: No space left on device\n", said);
  }

  @Test
  void aReaderThatHadEnoughIsNone() {
    assertEquals(1, Jofi.run(new StandardOutput(new Broken("Input/output error")), "--help"));
    assertEquals(0, Jofi.run(new StandardOutput(new Broken("Broken pipe")), "--help"));
    assertEquals(0, Jofi.run(new StandardOutput(new ByteArrayOutputStream()), "--help"));
  }
}
