package org.jofi.nccl.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GlibcVersionTest {
  @TempDir private Path scratch;

  @Test
  void theyAreInOrder() {
    assertTrue(new GlibcVersion(2, 4).compareTo(new GlibcVersion(2, 34)) < 0);
    assertTrue(new GlibcVersion(3, 0).compareTo(new GlibcVersion(2, 99)) > 0);
    assertEquals("2.34", new GlibcVersion(2, 34).toString());
  }

  /** A library of this JVM, as another program reads it. */
  @Test
  void whatALibraryNeedsIsWhatReadelfSays() throws Exception {
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/readelf")), "needs readelf: apt-get install binutils");
    Path library = Path.of(System.getProperty("java.home"), "lib/server/libjvm.so");
    String printed = Tool.run(List.of("/usr/bin/readelf", "-VW", library.toString()));
    Optional<GlibcVersion> expected =
        Pattern.compile("Name: GLIBC_(\\d+)\\.(\\d+)")
            .matcher(printed)
            .results()
            .map(
                found ->
                    new GlibcVersion(
                        Integer.parseInt(found.group(1)), Integer.parseInt(found.group(2))))
            .max(GlibcVersion::compareTo);

    assertTrue(expected.isPresent(), printed);
    assertEquals(expected, GlibcVersion.neededBy(library));
  }

  @Test
  void whatIsNoLibraryNeedsNone() throws Exception {
    assertEquals(
        Optional.empty(), GlibcVersion.neededBy(Files.writeString(scratch.resolve("a"), "text")));
  }

  @Test
  void oneThatIsCutOffIsTold() throws Exception {
    byte[] whole = Files.readAllBytes(Path.of(System.getProperty("java.home"), "lib/libjava.so"));
    Path cut = Files.write(scratch.resolve("cut.so"), Arrays.copyOf(whole, 100));

    assertThrows(IOException.class, () -> GlibcVersion.neededBy(cut));
  }
}
