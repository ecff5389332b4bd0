package org.jofi.nicdouble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The devices of a test, and the environment that shows them to its child processes. All children
 * of one double see each other; others do not. A test ends with {@link #demandNoViolations}.
 */
public abstract class NicDouble implements AutoCloseable {
  private static final long WIRE_SECONDS = 30;
  private static final AtomicInteger WIRES = new AtomicInteger();

  private final String name;
  private final Build build;
  private final String wire;
  private final Path violations;
  private final int devices;
  private final Map<String, String> chosen = new HashMap<>();

  /**
   * Devices of which each process has its own, on a host of its own.
   *
   * @param name the double's, which is its folder's below {@code test-harness} as well
   * @param needs what it is built with
   * @param devices how many a process has
   */
  protected NicDouble(String name, Needs needs, int devices) {
    this.name = name;
    build = Build.of(name, needs);
    this.devices = devices;
    wire = "test-%d-%d".formatted(ProcessHandle.current().pid(), WIRES.incrementAndGet());
    try {
      violations = Files.createTempFile(name, ".violations");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    choose("NODE", "pid");
  }

  /** Chooses something of the devices, by the setting's name behind the double's. */
  protected final void choose(String setting, Object value) {
    chosen.put(variable(setting), value.toString());
  }

  private String variable(String setting) {
    return name.replace('-', '_').toUpperCase(Locale.ROOT) + "_" + setting;
  }

  /** How many devices a process has. */
  protected final int devices() {
    return devices;
  }

  /** The names of libfabric's domains: one for each device. */
  public abstract List<String> domains();

  /** The wire's name, by which the double's own tool calls it. */
  public final String wire() {
    return wire;
  }

  /** What the processes share while one of them lives. */
  public final Path wireFile() {
    return Path.of("/dev/shm", name + "-" + wire);
  }

  /**
   * What a process has in its environment that shall meet the devices. It goes beside what it would
   * have had, and replaces nothing else of it.
   */
  public Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>(chosen);
    String libraries = build.folder().resolve("lib").toString();
    environment.put("LD_LIBRARY_PATH", libraries);
    // For the Java that runs on libfabric 2.1, whose dynamic linker does not look at the other one.
    environment.put("JOFI_LIBRARY_PATH", libraries);
    environment.put(variable("DEVICES"), Integer.toString(devices));
    environment.put(variable("WIRE"), wire);
    environment.put(variable("VIOLATIONS"), violations.toString());
    return environment;
  }

  /** Adds {@link #environment} to a process that is about to start. */
  public final ProcessBuilder on(ProcessBuilder process) {
    process.environment().putAll(environment());
    return process;
  }

  /** A program that was built with the double. */
  public final Path program(String name) {
    return build.folder().resolve("bin").resolve(name);
  }

  /** The rules of the device that children broke, each as {@code rule: what happened}. */
  public final List<String> violations() {
    try {
      return Files.readAllLines(violations, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * For when the children have ended.
   *
   * @throws AssertionError that names the rules that they broke, if they did
   */
  public final void demandNoViolations() {
    List<String> broken = violations();
    if (!broken.isEmpty()) {
      throw new AssertionError(
          "%d times a rule of the device was broken:%n%s"
              .formatted(
                  broken.size(),
                  String.join(
                      System.lineSeparator(), broken.subList(0, Math.min(20, broken.size())))));
    }
  }

  /** What the double's tool prints of this wire: its counters, if it is told {@code status}. */
  public final String ask(String... arguments) throws IOException, InterruptedException {
    ProcessBuilder tool = new ProcessBuilder(program(name + "-wire").toString(), wire);
    tool.command().addAll(List.of(arguments));
    Ended answer = Ended.of(on(tool), WIRE_SECONDS);
    if (answer.code() != 0) {
      throw new IOException("%s: %s".formatted(tool.command(), answer.output()));
    }
    return answer.output();
  }

  /** Forgets the violations; the wire itself ends with its last process. */
  @Override
  public final void close() {
    try {
      Files.deleteIfExists(violations);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
