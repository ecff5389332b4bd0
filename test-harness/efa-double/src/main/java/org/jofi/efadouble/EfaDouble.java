package org.jofi.efadouble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * The devices of a test, and the environment that shows them to its child processes. All children
 * of one double see each other; others do not. A test ends with {@link #demandNoViolations}.
 */
public final class EfaDouble implements AutoCloseable {
  static final String PREFIX = "EFA_DOUBLE_";

  private static final long WIRE_SECONDS = 30;
  private static final AtomicInteger WIRES = new AtomicInteger();

  private final Build build;
  private final String wire;
  private final Path violations;
  private final int devices;
  private final Map<String, String> chosen = new HashMap<>();

  private EfaDouble(int devices) {
    build = Build.ofThisMachine();
    this.devices = devices;
    wire = "test-%d-%d".formatted(ProcessHandle.current().pid(), WIRES.incrementAndGet());
    try {
      violations = Files.createTempFile("efa-double", ".violations");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    with(Option.NODE, "pid");
  }

  /**
   * Devices that stand on their own, and of which each process has its own.
   *
   * @param number how many a process has
   */
  public static EfaDouble devices(int number) {
    return new EfaDouble(number);
  }

  /**
   * Chooses something of the devices.
   *
   * @return this
   */
  public EfaDouble with(Option option, Object value) {
    chosen.put(option.variable(), value.toString());
    return this;
  }

  /** The wire's name, by which the double's own tool calls it. */
  public String wire() {
    return wire;
  }

  /** What the processes share while one of them lives. */
  public Path wireFile() {
    return Path.of("/dev/shm", "efa-double-" + wire);
  }

  /** The names of libfabric's domains for reliable datagrams: one for each device. */
  public List<String> domains() {
    return IntStream.range(0, devices).mapToObj("efa_%d-rdm"::formatted).toList();
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
    environment.put("FI_EFA_ENABLE_SHM_TRANSFER", "0");
    environment.put(PREFIX + "DEVICES", Integer.toString(devices));
    environment.put(PREFIX + "WIRE", wire);
    environment.put(PREFIX + "VIOLATIONS", violations.toString());
    return environment;
  }

  /** Adds {@link #environment} to a process that is about to start. */
  public ProcessBuilder on(ProcessBuilder process) {
    process.environment().putAll(environment());
    return process;
  }

  /** A program that was built with the double. */
  public Path program(String name) {
    return build.folder().resolve("bin").resolve(name);
  }

  /** The rules of the device that children broke, each as {@code rule: what happened}. */
  public List<String> violations() {
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
  public void demandNoViolations() {
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
  public String ask(String... arguments) throws IOException, InterruptedException {
    ProcessBuilder tool = new ProcessBuilder(program("efa-double-wire").toString(), wire);
    tool.command().addAll(List.of(arguments));
    Ended answer = Ended.of(on(tool), WIRE_SECONDS);
    if (answer.code() != 0) {
      throw new IOException("%s: %s".formatted(tool.command(), answer.output()));
    }
    return answer.output();
  }

  /** Forgets the violations; the wire itself ends with its last process. */
  @Override
  public void close() {
    try {
      Files.deleteIfExists(violations);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
