package org.jofi.nicdouble;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/**
 * libfabric's own programs, which know nothing of jofi, on the libfabric under test. Where they are
 * not installed, a test is aborted with that reason, and in continuous integration it fails.
 */
public final class PingPong {
  private static final long BOUND_SECONDS = 90;
  private static final int PORTS = 5;
  private static final String IN_USE = "Address already in use";

  private PingPong() {}

  /** What {@code fi_info} prints of a provider, by its name. */
  public static Ended info(NicDouble nics, String provider)
      throws IOException, InterruptedException {
    return Ended.of(program(nics, "fi_info", List.of("-p", provider)), BOUND_SECONDS);
  }

  /**
   * {@code fi_pingpong} between two processes, with every size that it knows, each byte of which is
   * checked.
   *
   * @param options of both sides, such as the provider
   * @param longest what has to be in the output of the one that begins
   * @throws AssertionError if a side does not end well, or broke a rule of the devices
   */
  public static void run(NicDouble nics, List<String> options, String longest)
      throws IOException, InterruptedException {
    Path said = Files.createTempFile("fi_pingpong", ".out");
    try {
      // Somebody else may take the port before the server does.
      boolean passed = false;
      for (int tries = PORTS; !passed; tries--) {
        passed = run(nics, options, longest, freePort(), said);
        Assertions.assertTrue(passed || tries > 0, Files.readString(said));
      }
      nics.demandNoViolations();
    } finally {
      Files.delete(said);
    }
  }

  /** Whether the server could listen there: then all of it went well. */
  private static boolean run(
      NicDouble nics, List<String> options, String longest, int port, Path said)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(options);
    all.addAll(List.of("-I", "5", "-S", "all", "-c"));
    List<String> server = new ArrayList<>(all);
    server.addAll(List.of("-B", Integer.toString(port)));
    List<String> client = new ArrayList<>(all);
    client.addAll(List.of("-P", Integer.toString(port), "127.0.0.1"));
    Process serving =
        program(nics, "fi_pingpong", server)
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      awaitListener(serving, port, said);
      if (!serving.isAlive() && Files.readString(said).contains(IN_USE)) {
        return false;
      }
      Ended run = Ended.of(program(nics, "fi_pingpong", client), BOUND_SECONDS);
      Assertions.assertEquals(0, run.code(), run::output);
      Assertions.assertTrue(
          serving.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), "the server does not end");
      Assertions.assertEquals(0, serving.exitValue(), Files.readString(said));
      Assertions.assertTrue(run.output().contains(longest), run::output);
      return true;
    } finally {
      serving.destroyForcibly().waitFor();
    }
  }

  private static ProcessBuilder program(NicDouble nics, String name, List<String> arguments) {
    return NewerLibrary.isUnderTest()
        ? NewerLibrary.start(nics, NewerLibrary.program(name), arguments)
        : NewerLibrary.start(nics, installed(name), arguments);
  }

  private static Path installed(String name) {
    Optional<Path> found =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .map(folder -> Path.of(folder, name))
            .filter(Files::isExecutable)
            .findFirst();
    String advice = "needs libfabric's programs: apt-get install libfabric-bin";
    if (found.isEmpty() && "true".equals(System.getenv("CI"))) {
      throw new AssertionError(advice);
    }
    Assumptions.assumeTrue(found.isPresent(), advice);
    return found.orElseThrow();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /**
   * Until it listens, or has ended as somebody else does. It takes one connection only, so that one
   * cannot try whether it is there.
   */
  private static void awaitListener(Process server, int port, Path said) throws IOException {
    String listening = ".* [0-9A-F]{8}:%04X 00000000:0000 0A .*".formatted(port);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
    while (Files.readAllLines(Path.of("/proc/net/tcp")).stream()
        .noneMatch(line -> line.matches(listening))) {
      if (!server.isAlive()) {
        Assertions.assertTrue(Files.readString(said).contains(IN_USE), Files.readString(said));
        return;
      }
      Assertions.assertTrue(System.nanoTime() - deadline < 0, Files.readString(said));
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }
}
