package org.jofi.conformance;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A JVM that runs cases, with this JVM's modules or class path. */
final class ChildProcess implements AutoCloseable {
  private static final int KEPT_LINES = 60;
  private static final int SIGNAL_BASE = 128;
  private static final long END_SECONDS = 5;
  private static final String NO_MORE = "";

  /** What a JVM says of the signal that it dies of. */
  private static final String FATAL = "#  SIG";

  private final Process process;
  private final BlockingQueue<Wire.Message> messages = new LinkedBlockingQueue<>();
  private final ArrayDeque<String> lastLines = new ArrayDeque<>();
  private volatile @Nullable String fatalSignal;

  private ChildProcess(Process process) {
    this.process = process;
    Thread.ofPlatform().daemon().name("conformance child").start(this::read);
  }

  /**
   * Starts one.
   *
   * @param java the java to run
   * @param properties system properties, as {@code NAME=VALUE}
   * @param environment variables beside those that it inherits
   * @param arguments for {@link ChildMain}
   */
  static ChildProcess start(
      Path java, List<String> properties, Map<String, String> environment, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(java.toString());
    // Fast to start, small, and no files left behind by a crash.
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=/dev/null"));
    properties.forEach(property -> command.add("-D" + property));
    String modules = System.getProperty("jdk.module.path");
    Module own = ChildProcess.class.getModule();
    if (own.isNamed() && modules != null) {
      command.addAll(List.of("-p", modules, "--add-modules", "ALL-MODULE-PATH"));
      String natives = nativeModules();
      if (!natives.isEmpty()) {
        command.add("--enable-native-access=" + natives);
      }
      command.addAll(List.of("-m", own.getName() + "/" + ChildMain.class.getName()));
    } else {
      command.addAll(
          List.of(
              "--enable-native-access=ALL-UNNAMED",
              "-cp",
              System.getProperty("java.class.path"),
              ChildMain.class.getName()));
    }
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    return new ChildProcess(builder.start());
  }

  private static String nativeModules() {
    return ModuleLayer.boot().modules().stream()
        .filter(module -> module.isNativeAccessEnabled())
        .map(Module::getName)
        .filter(name -> name.startsWith("org.jofi."))
        .sorted()
        .collect(Collectors.joining(","));
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  private void read() {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line;
      while ((line = in.readLine()) != null) {
        Optional<Wire.Message> message = Wire.parse(line);
        if (message.isPresent()) {
          messages.add(message.get());
        } else {
          note(line);
        }
      }
    } catch (IOException gone) {
      note("its output ended: " + gone.getMessage());
    }
    messages.add(new Wire.Message(NO_MORE));
  }

  private void note(String line) {
    if (line.isBlank()) {
      return;
    }
    if (line.startsWith(FATAL)) {
      fatalSignal = line.substring(3).trim().split("[ (]", 2)[0];
    }
    synchronized (lastLines) {
      if (lastLines.size() == KEPT_LINES) {
        lastLines.removeFirst();
      }
      lastLines.add(line);
    }
  }

  /** The next message; empty if the process ended, or said nothing for so long. */
  Optional<Wire.Message> next(long millis) throws InterruptedException {
    Wire.Message message = messages.poll(millis, TimeUnit.MILLISECONDS);
    return message == null || message.word().equals(NO_MORE)
        ? Optional.empty()
        : Optional.of(message);
  }

  /** How the process ended, if it did within a few seconds: the signal by its name, or its code. */
  Optional<String> end() throws InterruptedException {
    if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
      return Optional.empty();
    }
    int code = process.exitValue();
    String signal = fatalSignal;
    if (signal != null) {
      return Optional.of("the process was ended by signal " + signal);
    }
    return Optional.of(
        code > SIGNAL_BASE
            ? "the process was ended by signal " + signal(code - SIGNAL_BASE)
            : "the process ended with code " + code);
  }

  private static String signal(int number) {
    return switch (number) {
      case 4 -> "SIGILL";
      case 6 -> "SIGABRT";
      case 7 -> "SIGBUS";
      case 8 -> "SIGFPE";
      case 9 -> "SIGKILL";
      case 11 -> "SIGSEGV";
      case 13 -> "SIGPIPE";
      case 15 -> "SIGTERM";
      default -> Integer.toString(number);
    };
  }

  /** The last lines that were no messages. */
  String output() {
    synchronized (lastLines) {
      return String.join(System.lineSeparator(), lastLines);
    }
  }

  /** Ends the process, whatever it does. */
  @Override
  public void close() {
    process.destroyForcibly();
  }
}
