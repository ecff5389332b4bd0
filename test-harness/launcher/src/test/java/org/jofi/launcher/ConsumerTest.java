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
  private static final Pattern FLAGS = Pattern.compile("(?m)^java (--enable-native-access=.*) …$");

  private static final String PROGRAM =
      """
      package consumer;

      import java.time.Duration;
      import org.jofi.transport.Await;
      import org.jofi.transport.Transport;
      import org.jofi.transport.TransportOptions;

      public final class Connects {
        private Connects() {}

        public static void main(String[] arguments) {
          var patience = Duration.ofSeconds(60);
          var await = new Await();
          try (var transport = Transport.open(TransportOptions.builder().build())) {
            var listener = transport.devices().getFirst().listen();
            var attempt = transport.devices().getFirst().connect(listener.handle());
            await.accepted(listener, patience);
            await.connection(attempt, patience);
            System.out.println("connected");
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
    try (Stream<Path> all = Files.list(MODULES)) {
      for (Path jar : all.toList()) {
        String name = jar.getFileName().toString();
        if (OF_A_PROGRAM.matcher(name).matches()) {
          Files.copy(jar, jars.resolve(name));
        }
      }
    }
    source = Files.createDirectories(folder.resolve("src/consumer")).resolve("Connects.java");
    Files.writeString(source, PROGRAM);
    flags =
        FLAGS
            .matcher(Files.readString(LauncherTree.PROJECT.resolve("README.md")))
            .results()
            .map((MatchResult found) -> found.group(1))
            .toList();
    assertEquals(2, flags.size(), "README.md has to name flags for both paths");
  }

  @Test
  void itCompilesAndRunsOnTheModulePath() throws Exception {
    Path module = folder.resolve("src/module-info.java");
    Files.writeString(module, "module consumer { requires org.jofi.transport; }");
    compile("--module-path", jars.toString(), module.toString());
    run(
        flags.getFirst(),
        "--module-path",
        folder.resolve("out") + ":" + jars,
        "--module",
        "consumer/consumer.Connects");
  }

  @Test
  void itCompilesAndRunsOnTheClassPath() throws Exception {
    compile("--class-path", eachJar());
    run(
        flags.getLast(),
        "--class-path",
        folder.resolve("out") + ":" + eachJar(),
        "consumer.Connects");
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

  private void run(String flagsOfThePath, String... what) throws Exception {
    Path said = folder.resolve("said");
    List<String> command =
        new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString()));
    command.addAll(List.of(flagsOfThePath.split(" ")));
    command.addAll(List.of("--illegal-native-access=deny", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of(what));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
    String text = Files.readString(said);
    assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), text);
    assertEquals("connected\n", text);
    assertEquals(0, process.exitValue());
  }
}
