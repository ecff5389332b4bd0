package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program of somebody else's against the jars, on the module path and on the class path, with the
 * flags that README.md names: it has the modules that it runs on, and nothing that jofi was
 * compiled with besides.
 */
@Timeout(300)
class ConsumerTest {
  private static final long BOUND_SECONDS = 120;
  private static final Path MODULES =
      LauncherTree.PROJECT.resolve("test-harness/cli/target/modules");
  private static final Pattern OF_A_PROGRAM =
      Pattern.compile(
          "(agrona|jofi-(transport|mr-cache|rdma-protocol|libfabric|libfabric-bindings))-[0-9].*");
  private static final Pattern OF_A_PROGRAM_WITH_GPUS =
      Pattern.compile("jofi-cuda(-bindings)?-[0-9].*");
  private static final Pattern FLAGS = Pattern.compile("(?m)^java (--enable-native-access=.*) …$");

  private static final String PROGRAM =
      """
      package consumer;

      import java.time.Duration;
      import org.jofi.transport.Await;
      import org.jofi.transport.Transport;
      import org.jofi.transport.TransportOptions;

      public final class Exchanges {
        private Exchanges() {}

        public static void main(String[] arguments) {
          var patience = Duration.ofSeconds(60);
          var await = new Await();
          var options = TransportOptions.builder().provider("net").build();
          try (var transport = Transport.open(options); var arena = transport.openArena()) {
            var listener = transport.devices().getFirst().listen();
            var attempt = transport.devices().getFirst().connect(listener.handle());
            var receiver = await.accepted(listener, patience);
            var sender = await.connection(attempt, patience);
            // Short ones are copied, long ones written to where they are received.
            for (int bytes : new int[] {8, 1 << 20}) {
              var from = arena.allocate(bytes);
              var to = arena.allocate(bytes);
              from.fill((byte) 42);
              var receive = receiver.irecv(to, 7);
              await.request(sender, sender.isend(from, 7), patience);
              await.request(receiver, receive, patience);
              System.out.println(bytes + (to.mismatch(from) == -1 ? " arrived" : " differ"));
            }
          }
        }
      }
      """;

  @TempDir private Path folder;
  private Path jars;
  private Path source;
  private List<String> flags;

  @BeforeEach
  void layOut() throws IOException {
    ModuleGraphTest.requireModules();
    jars = Files.createDirectory(folder.resolve("jars"));
    copy(OF_A_PROGRAM);
    source = Files.createDirectories(folder.resolve("src/consumer")).resolve("Exchanges.java");
    Files.writeString(source, PROGRAM);
    flags = flags();
  }

  /** The flags that README.md names: for the module path, and for the class path. */
  static List<String> flags() throws IOException {
    List<String> flags =
        FLAGS
            .matcher(Files.readString(LauncherTree.PROJECT.resolve("README.md")))
            .results()
            .map((MatchResult found) -> found.group(1))
            .toList();
    assertEquals(2, flags.size(), "README.md has to name the flag for both paths");
    return flags;
  }

  @Test
  void itCompilesAndRunsOnTheModulePath() throws Exception {
    Path module = folder.resolve("src/module-info.java");
    Files.writeString(module, "module consumer { requires org.jofi.transport; }");
    compile("--module-path", jars.toString(), module.toString());
    String[] program = {
      "--module-path", folder.resolve("out") + ":" + jars, "--module", "consumer/consumer.Exchanges"
    };
    runWithAndWithout(flags.getFirst(), program);

    copy(OF_A_PROGRAM_WITH_GPUS);
    String told = run(List.of(flags.getFirst()), program);
    assertTrue(told.contains("=org.jofi.cuda,org.jofi.cuda.bindings,org.jofi.libfabric,"), told);
    assertTrue(told.startsWith("1: ") && told.lines().count() == 1, told);
  }

  @Test
  void itCompilesAndRunsOnTheClassPath() throws Exception {
    compile("--class-path", eachJar());
    runWithAndWithout(
        flags.getLast(),
        "--class-path",
        folder.resolve("out") + ":" + eachJar(),
        "consumer.Exchanges");
  }

  private void copy(Pattern names) throws IOException {
    try (Stream<Path> all = Files.list(MODULES)) {
      for (Path jar : all.toList()) {
        String name = jar.getFileName().toString();
        if (names.matcher(name).matches()) {
          Files.copy(jar, jars.resolve(name));
        }
      }
    }
  }

  private String eachJar() throws IOException {
    try (Stream<Path> all = Files.list(jars)) {
      return all.map(Path::toString).collect(Collectors.joining(":"));
    }
  }

  private void compile(String... more) {
    StringWriter said = new StringWriter();
    List<String> arguments = new ArrayList<>(List.of("-Xlint:all", "-Werror"));
    arguments.addAll(List.of("-d", folder.resolve("out").toString(), source.toString()));
    arguments.addAll(List.of(more));
    PrintWriter out = new PrintWriter(said);
    int code =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(out, out, arguments.toArray(String[]::new));
    out.flush();
    assertEquals(0, code, said.toString());
  }

  /** Without the flag it is told the flag, in one line, whatever the JVM itself would do then. */
  private void runWithAndWithout(String flag, String... what) throws Exception {
    String deny = "--illegal-native-access=deny";
    assertEquals("0: 8 arrived\n1048576 arrived\n", run(List.of(flag, deny), what));
    for (List<String> options : List.of(List.<String>of(), List.of(deny))) {
      String told = run(options, what);
      assertTrue(told.matches("1: Exception [^\n]* start it with java --[^\n]*\n"), told);
      assertTrue(told.endsWith(" start it with java " + flag + "\n"), told);
    }
  }

  /** Its exit code and what it said. */
  private String run(List<String> options, String... what) throws Exception {
    Path said = folder.resolve("said");
    List<String> command =
        new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString()));
    command.addAll(options);
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of(what));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
    assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), () -> "it did not end");
    return process.exitValue() + ": " + Files.readString(said);
  }
}
