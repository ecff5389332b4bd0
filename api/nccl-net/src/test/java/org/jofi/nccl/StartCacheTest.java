package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jofi.nccl.PluginUnderTest.Run;
import org.jofi.nccl.layout.PluginFolder;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A whole folder, with its own runtime and what that starts from: the cache is used wherever the
 * folder is copied to, and left alone where it does not fit, which nothing but the classes' origin
 * tells.
 */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
class StartCacheTest {
  private static final String CACHE = "jofi.aot";

  /** Of some six hundred classes of jofi's. */
  private static final long MANY = 300;

  private static final long FEW = 30;

  private Path scratch;
  private PluginUnderTest plugin;
  private Path whole;

  /** A training that fails is told, and leaves nothing behind. */
  @BeforeAll
  void layOut(@TempDir Path folderForAll) throws IOException, InterruptedException {
    assumeTrue(PluginUnderTest.isOnTheSystemsLibfabric(), "any libfabric will do for this");
    scratch = folderForAll;
    plugin = new PluginUnderTest(scratch);
    whole = scratch.resolve("whole");
    PluginFolder folder =
        plugin.folder(whole).withRuntime(PluginUnderTest.javaHome(), PluginUnderTest.modulePath());
    String why = folder.withStartCache(scratch.resolve("no-libfabric.so").toString()).orElseThrow();
    assertTrue(why.contains("no-libfabric.so"), why);
    assertFalse(Files.exists(whole.resolve(CACHE)));
    assertEquals(Optional.empty(), folder.withStartCache(""));
    folder.checkSize();
    assertFalse(Files.exists(whole.resolve(".scratch")));
  }

  /** As a program of the system copies it: with new times. */
  private Path copy(String name) throws IOException, InterruptedException {
    Path copy = scratch.resolve(name);
    Run cp = plugin.run(List.of("cp", "-r", whole.toString(), copy.toString()), Map.of());
    assertEquals(0, cp.code(), cp::err);
    return copy;
  }

  /** Of jofi's classes, how many came from the cache, and how many did not. */
  private record Origins(long cached, long read) {}

  private Origins start(Path folder, String... environment) throws Exception {
    Path log = Files.createTempFile(scratch, "load", ".log");
    Map<String, String> all = new HashMap<>(Map.of("JOFI_PROVIDER", "tcp", "JOFI_WARM_UP", "0"));
    for (int name = 0; name < environment.length; name += 2) {
      all.put(environment[name], environment[name + 1]);
    }
    all.merge("JOFI_JVM_OPTS", "-Xlog:class+load:file=" + log, (one, other) -> one + " " + other);
    Run run = plugin.drive(all, folder.resolve(PluginFolder.LIBRARY).toString(), 11, "start");
    assertEquals(0, run.code(), () -> run.out() + run.err());
    assertTrue(run.out().contains("first message: "), run::out);
    String said = run.out() + run.err();
    assertFalse(said.contains("[warning]") || said.contains("[error]"), said);
    try (Stream<String> lines = Files.lines(log, StandardCharsets.UTF_8)) {
      List<String> jofis = lines.filter(line -> line.contains(" org.jofi.")).toList();
      long cached = jofis.stream().filter(line -> line.contains("shared objects file")).count();
      return new Origins(cached, jofis.size() - cached);
    }
  }

  private static void assertUsed(Origins origins) {
    assertTrue(origins.cached() > MANY && origins.read() < FEW, origins::toString);
  }

  private static void assertIgnored(Origins origins) {
    assertTrue(origins.cached() == 0 && origins.read() > MANY, origins::toString);
  }

  @Test
  void aCopyElsewhereStartsFromIt() throws Exception {
    Path first = copy("to be moved");
    Path copy = scratch.resolve("moved elsewhere");
    Files.move(first, copy);

    assertUsed(start(copy));
    Run run =
        plugin.drive(
            Map.of("JOFI_PROVIDER", "tcp", "LD_LIBRARY_PATH", copy.toString()),
            PluginFolder.LINK,
            11,
            "sizes,files-close-on-exec");
    assertEquals(0, run.code(), () -> run.out() + run.err());
  }

  @Test
  void anotherCollectorAndALargerHeapGoWithIt() throws Exception {
    assertUsed(start(whole, "JOFI_JVM_OPTS", "-XX:+UseG1GC -Xmx4g"));
  }

  @ParameterizedTest
  @CsvSource({
    "JOFI_JVM_OPTS, -XX:+UseZGC",
    "JOFI_JVM_OPTS, -XX:-UseCompressedOops",
    "JOFI_JVM_OPTS, -Xshare:off",
    "JAVA_TOOL_OPTIONS, -Xshare:off",
    "_JAVA_OPTIONS, -Xms8m",
    "JOFI_JVM_OPTS, -Xmx1g -Xmn64m",
  })
  void withTheseThePluginStartsWithoutIt(String variable, String options) throws Exception {
    assertIgnored(start(whole, variable, options));
  }

  @Test
  void oneThatIsCutOffIsLeftAlone() throws Exception {
    Path copy = copy("cut off");
    try (FileChannel file = FileChannel.open(copy.resolve(CACHE), StandardOpenOption.WRITE)) {
      file.truncate(file.size() / 2);
    }

    assertIgnored(start(copy));
  }

  @Test
  void oneOfAnotherRuntimeIsLeftAlone() throws Exception {
    Path copy = copy("another runtime");
    Path modules = copy.resolve("jre/lib/modules");
    Files.write(modules, new byte[] {0}, StandardOpenOption.APPEND);

    assertIgnored(start(copy));
  }
}
