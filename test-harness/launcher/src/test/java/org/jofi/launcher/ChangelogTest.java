package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The versions on the wire that CHANGELOG.md names are those of the code. */
class ChangelogTest {
  /** Rows of the table, and the classes whose constant it is. */
  private static final Map<String, String> FORMATS =
      Map.of(
          "protocol", "rdma-protocol/src/main/java/org/jofi/rdma/wire/ProtocolLimits.java",
          "connect handle", "api/transport/src/main/java/org/jofi/transport/ConnectHandle.java",
          "remote memory", "api/transport/src/main/java/org/jofi/transport/RemoteMemory.java",
          "bootstrap", "api/collectives/src/main/java/org/jofi/ranks/Frame.java");

  @Test
  void itNamesTheVersionsOnTheWire() throws IOException {
    String page = Files.readString(LauncherTree.PROJECT.resolve("CHANGELOG.md"));
    for (Map.Entry<String, String> format : FORMATS.entrySet()) {
      String source = Files.readString(LauncherTree.PROJECT.resolve(format.getValue()));
      assertEquals(
          first("static final int VERSION = (\\d+);", source),
          first("(?m)^\\| " + format.getKey() + " \\|.*\\| (\\d+) \\|$", page),
          format.getKey());
    }
  }

  private static String first(String pattern, String text) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    assertTrue(found.find(), () -> "nothing matches " + pattern);
    return found.group(1);
  }
}
