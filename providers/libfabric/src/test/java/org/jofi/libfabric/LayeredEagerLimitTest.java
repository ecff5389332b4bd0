package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jofi.fabric.FabricHints;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What ofi_rxm itself says that its limit is, whenever an endpoint is opened. */
@Timeout(120)
@Tag("libfabric-2.1")
class LayeredEagerLimitTest {
  private static final String PROVIDER = "tcp;ofi_rxm";

  /** Begins where ofi_rxm logs its limit, as the provider's developers worded it. */
  private static final String LOGGED = "Protocol limits: Eager: ";

  @TempDir private Path folder;

  /** Opens two endpoints, one after the other. */
  static final class Main {
    private Main() {}

    public static void main(String[] arguments) {
      new LibfabricProvider()
          .discover(FabricHints.any().withProvider(PROVIDER))
          .forEach(info -> System.out.println("jofi takes " + info.traits().eagerBytes()));
      for (int i = 0; i < 2; i++) {
        new Loopback(PROVIDER).close();
        System.out.println("left '" + LibC.variable(LayeredEagerLimit.VARIABLE) + "'");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"'', 65536, 65472", "65536, 65536, 65472", "32768, 32768, 8192"})
  void isWhatShortMessagesTakeUnlessTheUserSetIt(String set, String read, String taken)
      throws Exception {
    ChildProcess.Outcome outcome =
        ChildProcess.run(
            folder,
            Main.class,
            System.getProperty("jofi.libfabric", ""),
            set.isEmpty()
                ? Map.of("FI_LOG_LEVEL", "info")
                : Map.of("FI_LOG_LEVEL", "info", LayeredEagerLimit.VARIABLE, set),
            List.of());
    String text = outcome.text();
    assertEquals(0, outcome.code(), text);
    boolean isRead = !LibfabricLibrary.load().isAtLeast(1, 18);
    String limit = LOGGED + (isRead ? read : "16384") + ",";
    assertEquals(2, text.lines().filter(line -> line.contains(limit)).count(), text);
    assertEquals(
        List.of("jofi takes " + (isRead ? taken : "8192")),
        text.lines().filter(line -> line.startsWith("jofi takes")).distinct().toList());
    // Whoever this process starts, or what else is in it, sees what the user set alone.
    assertEquals(2, text.lines().filter(("left '" + set + "'")::equals).count(), text);
  }
}
