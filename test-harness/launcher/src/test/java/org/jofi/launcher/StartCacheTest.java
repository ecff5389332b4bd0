package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jofi.launcher.LauncherTree.Outcome;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The start cache of the command line: when it is made, and what a JVM does with it. */
@Timeout(600)
class StartCacheTest {
  private static final long BOUND_SECONDS = 300;

  /**
   * On this test's Java, with the program's own modules, as they are where the published command
   * line is unpacked. Nothing but the classes' origin tells whether a cache was used.
   */
  @Nested
  @TestInstance(TestInstance.Lifecycle.PER_CLASS)
  class OnRealJava {
    /** Of some hundred classes of jofi's that any command loads from it. */
    private static final long MANY = 100;

    private Path folder;
    private Path unpacked;

    @BeforeAll
    void make(@TempDir Path folderForAll) throws Exception {
      ModuleGraphTest.requireModules();
      folder = folderForAll;
      unpacked = Files.createDirectory(folder.resolve("un packed"));
      Path project = LauncherTree.PROJECT;
      copy(project.resolve("publishing/cli/jofi"), unpacked.resolve("jofi"));
      for (String part : List.of("java.sh", "start-cache.sh")) {
        copy(project.resolve("test-harness/launcher").resolve(part), unpacked.resolve(part));
      }
      Path modules = Files.createDirectory(unpacked.resolve("modules"));
      try (Stream<Path> jars = Files.list(project.resolve("test-harness/cli/target/modules"))) {
        for (Path jar : jars.toList()) {
          copy(jar, modules.resolve(jar.getFileName()));
        }
      }
      assertEquals(new Outcome(0, "", ""), run(unpacked, "", "start-cache"));
    }

    private static void copy(Path from, Path to) throws IOException {
      Files.copy(from, to, StandardCopyOption.COPY_ATTRIBUTES);
    }

    private static Outcome run(Path tree, String options, String... arguments) throws Exception {
      List<String> command = new ArrayList<>(List.of(tree.resolve("jofi").toString()));
      command.addAll(List.of(arguments));
      Path out = Files.createTempFile(tree, "out", ".txt");
      Path err = Files.createTempFile(tree, "err", ".txt");
      ProcessBuilder builder =
          PublishedRepository.builder(tree, command.toArray(String[]::new))
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      builder.environment().put("JOFI_JAVA_OPTS", options);
      Process process = builder.start();
      assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), () -> command + " hangs");
      return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    /** Whether each JVM of a command took jofi's classes from it; all did, or none. */
    private static boolean isUsed(int processes, Path tree, String options, String... arguments)
        throws Exception {
      Path logs = Files.createTempDirectory(tree.getParent(), "logs");
      Outcome run = run(tree, "-Xlog:class+load:file=" + logs + "/%p.log " + options, arguments);
      assertEquals(0, run.exitCode(), run::err);
      assertEquals("", run.err());
      assertFalse(run.out().contains("[warning]") || run.out().contains("[error]"), run::out);
      List<Boolean> used = new ArrayList<>();
      try (Stream<Path> files = Files.list(logs)) {
        for (Path log : files.toList()) {
          List<String> jofis =
              Files.readAllLines(log, StandardCharsets.UTF_8).stream()
                  .filter(line -> line.contains(" org.jofi."))
                  .toList();
          long cached = jofis.stream().filter(line -> line.contains("shared objects file")).count();
          assertTrue(cached > MANY || cached == 0, () -> cached + " of " + jofis.size());
          used.add(cached > 0);
        }
      }
      assertEquals(processes, used.size(), used::toString);
      assertEquals(1, used.stream().distinct().count(), used::toString);
      return used.getFirst();
    }

    /** And nothing is left of its making. */
    @Test
    void commandsAndTheirRanksStartFromIt() throws Exception {
      assertTrue(isUsed(1, unpacked, "-XX:+UseSerialGC -Dsome=thing", "--version"));
      assertFalse(Files.exists(unpacked.resolve("start/scratch")));
      assertTrue(isUsed(2, unpacked, "", "allreduce -n 1 -p shm -s 4 -k 1 --prepare=0".split(" ")));
      assertContains(
          Files.readString(unpacked.resolve("start/making.log")), "0 info\n", "0 allreduce ");
    }

    @Test
    void oneThatIsCutOffIsLeftAlone() throws Exception {
      Path tree = moved("cut off");
      FileTime made = Files.getLastModifiedTime(tree.resolve("start/key"));
      Files.writeString(
          tree.resolve("start/key"),
          Files.readString(tree.resolve("start/key"))
              .replace(unpacked.toString(), tree.toString()));
      Files.setLastModifiedTime(tree.resolve("start/key"), made);
      try (FileChannel file =
          FileChannel.open(tree.resolve("start/jofi.aot"), StandardOpenOption.WRITE)) {
        file.truncate(file.size() / 2);
      }

      assertFalse(isUsed(1, tree, "", "--version"));
    }

    @Test
    void withAnotherKindOfHeapACommandStartsWithoutIt() throws Exception {
      assertFalse(isUsed(1, unpacked, "-XX:+UseZGC", "--version"));
    }

    @Tag("long") // A second of processor time each.
    @ParameterizedTest
    @ValueSource(
        strings = {
          "-Xshare:off",
          "-XX:-UseCompressedOops",
          "-XX:+UseCompactObjectHeaders",
          "-Xms8m",
          "-Xmx9m",
          "-XX:AOTMode=off",
          "--add-opens java.base/java.lang=ALL-UNNAMED",
          "--illegal-native-access=deny",
          "--patch-module java.base=/nowhere",
          "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0,quiet=y",
        })
    void orWithOneOfThese(String options) throws Exception {
      assertFalse(isUsed(1, unpacked, options, "--version"));
    }

    /** The launcher knows it; and so does the JVM, whose words nobody reads. */
    @Tag("long") // Two copies of all, and a start of each.
    @Test
    void afterAMoveOrAnotherBuildItIsLeftAlone() throws Exception {
      Path tree = moved("moved");
      assertFalse(isUsed(1, tree, "", "--version"));
      Files.writeString(
          tree.resolve("start/key"),
          Files.readString(tree.resolve("start/key"))
              .replace(unpacked.toString(), tree.toString()));
      assertFalse(isUsed(1, tree, "", "--version"));

      assertEquals(new Outcome(0, "", ""), run(tree, "", "start-cache"));
      assertFalse(isUsed(1, tree, "", "--version"), "the launcher took it for made already");
      Files.delete(tree.resolve("start/key"));
      assertEquals(new Outcome(0, "", ""), run(tree, "", "start-cache"));
      assertTrue(isUsed(1, tree, "", "--version"));
      try (Stream<Path> jars = Files.list(tree.resolve("modules"))) {
        Path jar = jars.filter(file -> file.toString().contains("jofi-cli-")).findFirst().get();
        FileTime built = Files.getLastModifiedTime(jar);
        Files.setLastModifiedTime(jar, FileTime.from(built.toInstant().minusSeconds(9)));
        assertFalse(isUsed(1, tree, "", "--version"));
      }
    }

    private Path moved(String name) throws Exception {
      Path tree = folder.resolve(name);
      Process cp = new ProcessBuilder("cp", "-a", unpacked.toString(), tree.toString()).start();
      assertEquals(0, cp.waitFor());
      return tree;
    }
  }

  /** When it is made, with a Java that only notes what it is told. */
  @Nested
  class Making {
    private static final List<String> MADE = List.of("record", "create");

    @TempDir private Path folder;

    private LauncherTree tree(String create) throws IOException {
      LauncherTree tree = new LauncherTree(folder);
      tree.jdkWithStartCaches(create);
      tree.maven();
      return tree;
    }

    private Path start(LauncherTree tree) {
      return tree.modules().resolveSibling("start");
    }

    private static void await(LauncherTree tree, List<String> calls, Path file) throws Exception {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
      while (!tree.callsOf("start-cache").equals(calls) || Files.exists(file.resolve("scratch"))) {
        assertTrue(System.nanoTime() < deadline, () -> "not made: " + calls);
        Thread.sleep(20);
      }
    }

    @Test
    void theFirstCommandAfterABuildHasItMadeAndTheNextOnesUseIt() throws Exception {
      LauncherTree tree = tree("echo >\"$cache\"");
      Outcome first = tree.run("info");
      assertEquals(0, first.exitCode(), first.err());
      assertFalse(first.out().contains("AOT"), first.out());
      await(tree, MADE, start(tree));

      String option = "\n-XX:AOTCache=" + start(tree).resolve("jofi.aot") + "\n";
      assertContains(tree.run("perf").out(), option);
      assertContains(tree.with("JOFI_NO_BUILD", "1").run("info").out(), option);
      tree.with("JAVA_TOOL_OPTIONS", "-Xshare:auto");
      assertFalse(tree.run("info").out().contains("AOT"));
      tree.without("JAVA_TOOL_OPTIONS");
      assertEquals(MADE, tree.callsOf("start-cache"));

      Path jar = tree.modules().resolve("jofi-rdma-protocol-1.jar");
      FileTime made = Files.getLastModifiedTime(start(tree).resolve("key"));
      Files.setLastModifiedTime(jar, FileTime.from(made.toInstant().plus(Duration.ofMillis(1))));
      Outcome other = tree.run("info");
      assertFalse(other.out().contains("AOT"), "one of other jars is not for these: " + other);
      tree.without("JOFI_NO_BUILD").run("info");
      await(tree, List.of("record", "create", "record", "create"), start(tree));
      assertContains(tree.run("info").out(), option);
    }

    @Test
    void whereItCannotBeMadeItIsNotTriedAgainAndAgain() throws Exception {
      LauncherTree tree = tree("exit 1");
      tree.run("info");
      await(tree, MADE, start(tree));

      Outcome next = tree.run("info");
      assertEquals("", next.err());
      assertFalse(next.out().contains("AOT"), next.out());
      Outcome asked = tree.run("start-cache");
      assertEquals(1, asked.exitCode());
      assertContains(asked.err(), "jofi: no start cache could be made in " + start(tree));
      assertEquals(List.of("record", "create", "record", "create"), tree.callsOf("start-cache"));
    }
  }
}
