package org.jofi.cli.ranks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GuideTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();

  /** As pages on the web make links of headings: in lower case, without signs, with hyphens. */
  @ParameterizedTest
  @EnumSource
  void leadsToAHeading(Guide guide) throws IOException {
    List<String> headings =
        Files.readString(ROOT.resolve(Guide.PAGE))
            .lines()
            .filter(line -> line.startsWith("## "))
            .map(line -> line.substring(3).toLowerCase(Locale.ROOT))
            .map(line -> line.replaceAll("[^a-z0-9 -]", "").replace(' ', '-'))
            .toList();
    assertTrue(headings.contains(guide.heading()), headings::toString);
    assertTrue(guide.after("x").endsWith(Guide.PAGE + "#" + guide.heading()));
  }
}
