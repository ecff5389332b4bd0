package org.jofi.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.RemoteMemory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each {@link Target} on its corpus and on what is made from it. In the full run also by a fuzzer
 * that sees which code an input reaches. What one finds becomes a file of the corpus.
 */
@Timeout(900)
class FuzzTest {
  private static final int INPUTS = Integer.getInteger("jofi.fuzz.inputs", 100_000);

  /** Of all targets together, which takes 40 s of processor time. */
  private static final int MANY_INPUTS = Integer.getInteger("jofi.fuzz.many", 10_000_000);

  private static final long SEED = Long.getLong("jofi.fuzz.seed", 1);

  /** Of all targets together, which share a process: it takes seconds to start. */
  private static final int GUIDED_INPUTS = Integer.getInteger("jofi.fuzz.guided", 200_000);

  /** No input takes longer, by far. */
  private static final Duration BOUND = Duration.ofSeconds(250);

  private static final long GUIDED_BOUND_SECONDS = 800;

  /** How the fuzzer ends that found something. */
  private static final int FOUND = 77;

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  void anyBytesAreReadOrRefused(Target target) throws Exception {
    readOrRefuse(target, INPUTS, SEED);
  }

  @ParameterizedTest
  @EnumSource
  @Tag("long")
  void soAreManyMore(Target target) throws Exception {
    readOrRefuse(target, MANY_INPUTS / Target.values().length, SEED + 1);
  }

  private static void readOrRefuse(Target target, int inputs, long seed) throws Exception {
    List<byte[]> corpus = Corpus.inputs(target);
    assertTimeoutPreemptively(
        BOUND,
        () -> {
          for (byte[] input : corpus) {
            read(target, input);
          }
          Mutations mutations = new Mutations(corpus, seed);
          for (int i = 0; i < inputs; i++) {
            read(target, mutations.next());
          }
        });
  }

  private static void read(Target target, byte[] input) {
    try {
      target.read(input);
    } catch (IOException | RuntimeException | Error defect) {
      throw new AssertionError(
          "%s on %s".formatted(target, HexFormat.of().formatHex(input)), defect);
    }
  }

  /** What is well formed is not refused: else nothing beyond the first check would be tried. */
  @Test
  void whatIsWellFormedIsRead() throws IOException {
    byte[] memory = Corpus.inputs(Target.REMOTE_MEMORY).getLast();
    assertEquals(4096, RemoteMemory.decode(memory).lengthBytes());
    byte[] handle = Corpus.inputs(Target.CONNECT_HANDLE).getFirst();
    assertEquals("net", ConnectHandle.decode(handle).release().provider());
    memory[0]++;
    assertThrows(IllegalArgumentException.class, () -> RemoteMemory.decode(memory));
  }

  /** Each takes 20 times as long as above, most of which is looking at what it reaches. */
  @Test
  @Tag("long")
  void whatReachesNewCodeIsReadOrRefused() throws Exception {
    Path inputs = Files.createDirectory(folder.resolve("inputs"));
    for (Target target : Target.values()) {
      int number = 0;
      for (byte[] input : Corpus.inputs(target)) {
        Files.write(inputs.resolve(target.name() + number++), Guided.input(target, input));
      }
    }
    Said said = fuzz(Guided.class, GUIDED_INPUTS, inputs);
    assertEquals(0, said.code, said.words);
    System.out.println(said.words);
  }

  /** A fuzzer that sees nothing would find nothing. */
  @Test
  @Tag("long")
  void theFuzzerFindsADefectBehindFourBytes() throws Exception {
    Said said = fuzz(Planted.class, GUIDED_INPUTS, Files.createDirectory(folder.resolve("none")));
    assertEquals(FOUND, said.code, said.words);
  }

  private record Said(int code, String words) {}

  /** Where it finds JUnit it takes its target for a test of JUnit's. */
  private static String withoutJunit() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .filter(entry -> !entry.contains("/org/junit/"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private Said fuzz(Class<?> target, int inputs, Path corpus) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-Xmx512m", "--enable-native-access=ALL-UNNAMED"));
    // Of the fuzzer's own class paths.
    command.addAll(
        List.of("--sun-misc-unsafe-memory-access=allow", "-XX:+EnableDynamicAgentLoading"));
    command.addAll(List.of("-cp", withoutJunit()));
    command.add("com.code_intelligence.jazzer.Jazzer");
    command.add("--target_class=" + target.getName());
    command.add("--instrumentation_includes=org.jofi.**");
    command.add("--custom_hook_includes=org.jofi.**");
    command.add("-runs=" + inputs);
    command.add("-seed=" + SEED);
    // Fewer on a machine that is busy.
    command.add("-max_total_time=300");
    command.add("-timeout=60");
    command.add(corpus.toString());
    Path out = folder.resolve("out.txt");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    try {
      boolean ended = process.waitFor(GUIDED_BOUND_SECONDS, TimeUnit.SECONDS);
      String words = Files.readString(out);
      if (!ended) {
        throw new AssertionError("it does not end:\n" + words);
      }
      return new Said(process.exitValue(), words);
    } finally {
      process.destroyForcibly();
    }
  }
}
