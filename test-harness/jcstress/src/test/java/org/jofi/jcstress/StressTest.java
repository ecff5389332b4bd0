package org.jofi.jcstress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs all of them, in JVMs of their own. {@code -Djofi.jcstress.millis=5000} makes each as long.
 */
@Timeout(600)
@Tag("long")
class StressTest {
  private static final int MILLIS = Integer.getInteger("jofi.jcstress.millis", 400);
  private static final long BOUND_SECONDS = 550;

  @TempDir private Path folder;

  @Test
  void noOrderOfTwoThreadsBreaksWhatIsPromised() throws Exception {
    assertEquals(0, run("org.jofi.(mr.cache|async)."), this::said);
    assertTrue(said().contains("9 passed"), this::said);
  }

  /** What finds nothing proves nothing. */
  @Test
  void aCountWithoutAtomicityIsFoundOut() throws Exception {
    assertTrue(run("org.jofi.jcstress.Planted") != 0, this::said);
    assertTrue(said().contains("1 failed"), this::said);
  }

  private String said() {
    try {
      return Files.readString(folder.resolve("out.txt"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  private int run(String tests) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("org.openjdk.jcstress.Main", "-t", tests, "-r", folder.toString()));
    // One JVM for each test, compiled as it comes: what is looked for is what the machine does.
    command.addAll(List.of("-f", "1", "-fsm", "1", "-iters", "1", "-time", "" + MILLIS));
    command.addAll(List.of("-sc", "false", "-af", "NONE", "-c", "2", "-hs", "32"));
    command.addAll(List.of("-jvmArgs", "-XX:+UseTransparentHugePages"));
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("out.txt").toFile())
            .start();
    try {
      assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), this::said);
      return process.exitValue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
