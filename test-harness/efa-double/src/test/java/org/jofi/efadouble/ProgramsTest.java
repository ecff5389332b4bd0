package org.jofi.efadouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jofi.nicdouble.Ended;
import org.jofi.nicdouble.NewerLibrary;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** libfabric's own programs, which know nothing of jofi, find the devices and pass messages. */
@Tag("libfabric")
@Timeout(200)
class ProgramsTest {
  /** What devices of different years can do without the peer's processor. */
  enum Generation {
    SEND,
    READ,
    WRITE;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final long BOUND_SECONDS = 90;
  private static final int PORTS = 5;
  private static final String IN_USE = "Address already in use";

  /**
   * The longest message that any fabric of the provider takes: libfabric 2.1 lists efa-direct
   * first, where it ends at the MTU, and other versions pass megabytes as well.
   */
  private static final String LONGEST = "\n8k ";

  private static final List<String> OPTIONS =
      List.of("-p", "efa", "-e", "rdm", "-I", "5", "-S", "all", "-c");

  /** One of the programs of the libfabric under test. */
  private static ProcessBuilder program(EfaDouble efa, String name, List<String> arguments) {
    return NewerLibrary.isUnderTest()
        ? NewerLibrary.start(efa, NewerLibrary.program(name), arguments)
        : NewerLibrary.start(efa, installed(name), arguments);
  }

  private static Path installed(String name) {
    Optional<Path> found =
        Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
            .map(folder -> Path.of(folder, name))
            .filter(Files::isExecutable)
            .findFirst();
    String advice = "needs libfabric's programs: apt-get install libfabric-bin";
    if (found.isEmpty() && "true".equals(System.getenv("CI"))) {
      fail(advice);
    }
    assumeTrue(found.isPresent(), advice);
    return found.orElseThrow();
  }

  @ParameterizedTest
  @EnumSource
  void everyDeviceIsListed(Generation generation) throws Exception {
    try (EfaDouble efa = EfaDouble.devices(4).with(Option.GENERATION, generation.word())) {
      Ended info = Ended.of(program(efa, "fi_info", List.of("-p", "efa")), BOUND_SECONDS);
      assertEquals(0, info.code(), info::output);
      for (String domain : efa.domains()) {
        assertTrue(info.output().contains("domain: " + domain + "\n"), info::output);
      }
      efa.demandNoViolations();
    }
  }

  @Test
  void messagesArrive() throws Exception {
    pingPong(EfaDouble.devices(1));
  }

  @ParameterizedTest
  @EnumSource
  @Tag("long")
  void messagesArriveOnEachGeneration(Generation generation) throws Exception {
    pingPong(EfaDouble.devices(1).with(Option.GENERATION, generation.word()));
  }

  @Test
  void messagesArriveAlsoOutOfOrder() throws Exception {
    pingPong(EfaDouble.devices(1).with(Option.DELAY_US, 300).with(Option.SEED, 7));
  }

  @Test
  @Tag("long")
  void messagesArriveAlsoWhenReceiversAreNotReady() throws Exception {
    pingPong(EfaDouble.devices(1).with(Option.RNR, 10).with(Option.SEED, 7));
  }

  /** Every size that the first fabric of the provider takes, each byte of which is checked. */
  private static void pingPong(EfaDouble devices) throws IOException, InterruptedException {
    Path said = Files.createTempFile("fi_pingpong", ".out");
    try (EfaDouble efa = devices) {
      // Somebody else may take the port before the server does.
      boolean passed = false;
      for (int tries = PORTS; !passed; tries--) {
        passed = pingPong(efa, freePort(), said);
        assertTrue(passed || tries > 0, Files.readString(said));
      }
      efa.demandNoViolations();
    } finally {
      Files.delete(said);
    }
  }

  /** Whether the server could listen there: then all of it went well. */
  private static boolean pingPong(EfaDouble efa, int port, Path said)
      throws IOException, InterruptedException {
    List<String> server = new ArrayList<>(OPTIONS);
    server.addAll(List.of("-B", Integer.toString(port)));
    List<String> client = new ArrayList<>(OPTIONS);
    client.addAll(List.of("-P", Integer.toString(port), "127.0.0.1"));
    Process serving =
        program(efa, "fi_pingpong", server)
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      awaitListener(serving, port, said);
      if (!serving.isAlive() && Files.readString(said).contains(IN_USE)) {
        return false;
      }
      Ended run = Ended.of(program(efa, "fi_pingpong", client), BOUND_SECONDS);
      assertEquals(0, run.code(), run::output);
      assertTrue(serving.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), "the server does not end");
      assertEquals(0, serving.exitValue(), Files.readString(said));
      assertTrue(run.output().contains(LONGEST), run::output);
      return true;
    } finally {
      serving.destroyForcibly().waitFor();
    }
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
        assertTrue(Files.readString(said).contains(IN_USE), Files.readString(said));
        return;
      }
      assertTrue(System.nanoTime() - deadline < 0, Files.readString(said));
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }
}
