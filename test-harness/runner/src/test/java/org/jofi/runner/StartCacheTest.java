package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class StartCacheTest {
  private static final String CLASS = Trainee.class.getName().replace('.', '/') + ".class";
  private static final List<String> OPTIONS = List.of("-XX:+UseSerialGC");

  @TempDir private Path folder;

  private static Path java() {
    return Path.of(System.getProperty("java.home"), "bin/java");
  }

  /** A jar with the trainee, and with what else makes it differ. */
  private Path jar(String comment) throws IOException {
    Path jar = folder.resolve("trainee.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
        InputStream in =
            Objects.requireNonNull(Trainee.class.getClassLoader().getResourceAsStream(CLASS))) {
      out.setComment(comment);
      out.putNextEntry(new JarEntry(CLASS));
      in.transferTo(out);
    }
    return jar;
  }

  private StartCache cache(Path jar) {
    return new StartCache(folder.resolve("cache"), java(), List.of(jar));
  }

  private String run(StartCache cache, Path jar) throws Exception {
    Process process =
        new ProcessBuilder(
                cache.program().toString(),
                "-XX:+UseSerialGC",
                "-Xlog:class+load",
                "-cp",
                jar + ":" + folder,
                Trainee.class.getName(),
                "child")
            .redirectErrorStream(true)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), out);
    return out;
  }

  @Test
  void whatWasLoadedInTrainingComesFromTheCacheUntilAJarChanges() throws Exception {
    Path jar = jar("first");
    cache(jar).provide(OPTIONS, List.of(Trainee.class.getName()));

    String out = run(cache(jar), jar);
    assertTrue(out.contains(Trainee.GREETING), out);
    assertTrue(
        out.contains(Trainee.class.getName() + " source: shared objects file"),
        "not from the cache:\n" + out);

    FileTime made = Files.getLastModifiedTime(folder.resolve("cache/cache"));
    cache(jar).provide(OPTIONS, List.of(Trainee.class.getName()));
    assertEquals(made, Files.getLastModifiedTime(folder.resolve("cache/cache")));

    jar = jar("another one");
    cache(jar).provide(OPTIONS, List.of(Trainee.class.getName()));
    assertNotEquals(made, Files.getLastModifiedTime(folder.resolve("cache/cache")));
  }

  @Test
  void trainingThatFailsIsToldWithItsLog() throws Exception {
    Path jar = jar("");
    IOException failure =
        assertThrows(IOException.class, () -> cache(jar).provide(OPTIONS, List.of("no.such.Main")));
    assertTrue(
        String.valueOf(failure.getMessage()).startsWith("training failed: "), failure::getMessage);
  }
}
