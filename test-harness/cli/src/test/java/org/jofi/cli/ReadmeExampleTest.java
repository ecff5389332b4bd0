package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program that the front page shows does what the front page says. */
@Timeout(300)
class ReadmeExampleTest {
  /** Surefire runs tests in the module's folder. */
  private static final Path README = Path.of("..", "..", "README.md");

  private static final Pattern PROGRAM =
      Pattern.compile("```java\n(import .*?void main\\(\\) \\{\n.*?)```\n", Pattern.DOTALL);

  @TempDir private Path folder;

  @Test
  void itCompilesAndRuns() throws IOException, InterruptedException {
    Matcher found = PROGRAM.matcher(Files.readString(README));
    assertTrue(found.find(), "README.md shows no program");
    Path source = Files.writeString(folder.resolve("Hello.java"), found.group(1));

    CommandProcess.Outcome outcome =
        CommandProcess.run(folder, CommandProcess.program(Map.of(), source));

    assertEquals("", outcome.err());
    assertEquals(0, outcome.code());
    assertTrue(outcome.out().startsWith("hello over "), outcome.out());
  }
}
