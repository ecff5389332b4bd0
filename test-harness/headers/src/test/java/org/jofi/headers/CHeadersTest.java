package org.jofi.headers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CHeadersTest {
  @TempDir private Path include;
  @TempDir private Path work;
  private CHeaders headers;

  @BeforeEach
  void writeHeader() throws IOException {
    Files.createDirectory(include.resolve("rail"));
    Files.writeString(
        include.resolve("rail/rail.h"),
        """
        #define RAIL_DOWN -3
        #define RAIL_ALL 0xffffffffffffffffULL
        struct rail { char name; union { long speed; void *peer; }; };
        """);
    headers = new CHeaders(include, List.of("rail/rail.h"), work);
  }

  @Test
  void evaluatesWhatTheHeadersDeclareAndLeavesOutTheRest() throws Exception {
    assumeTrue(headers.obstacle().isEmpty(), () -> headers.obstacle().orElseThrow());

    Map<String, Long> values =
        headers.evaluate(
            List.of(
                "RAIL_LOST",
                "RAIL_DOWN",
                "sizeof(struct rail)",
                "sizeof(struct track)",
                "__builtin_offsetof(struct rail, gauge)",
                "__builtin_offsetof(struct rail, peer)",
                "RAIL_ALL"));

    assertEquals(
        Map.of(
            "RAIL_DOWN",
            -3L,
            "sizeof(struct rail)",
            16L,
            "__builtin_offsetof(struct rail, peer)",
            8L,
            "RAIL_ALL",
            -1L),
        values);
  }

  @Test
  void brokenHeaderIsAnErrorAndNotAnAbsence() throws Exception {
    assumeTrue(headers.obstacle().isEmpty(), () -> headers.obstacle().orElseThrow());
    Files.writeString(include.resolve("rail/rail.h"), "#include <no/such/header.h>\n");

    IOException error = assertThrows(IOException.class, () -> headers.evaluate(List.of("1 + 1")));

    assertTrue(error.getMessage().contains("no/such/header.h"), error.getMessage());
  }

  @Test
  void missingHeaderIsAnObstacle() {
    CHeaders missing = new CHeaders(include, List.of("rail/wheel.h"), work);

    assertEquals("no header " + include.resolve("rail/wheel.h"), missing.obstacle().orElseThrow());
  }
}
