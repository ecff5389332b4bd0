package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.verbsdouble.VerbsDouble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nothing of the C library's code is written over, which threads may be running. */
@Timeout(120)
@Tag("libfabric-2.1")
class RegistrationCacheTest {
  private static final int KILLED_BY_SIGSEGV = 128 + 11;
  private static final int MOST_RUNS = 4;

  @TempDir private Path folder;

  /** Opens endpoints, for which domains are opened, in whose caches a monitor would start. */
  static final class Main {
    private static final Pattern MAPPING = Pattern.compile("[0-9a-f]+-[0-9a-f]+ ");
    private static final Pattern CODE = Pattern.compile("\\S+ r.xp .*/libc\\.so\\.6");
    private static final Pattern ANONYMOUS = Pattern.compile("Anonymous: +(\\d+) kB");

    private Main() {}

    public static void main(String[] arguments) throws IOException {
      new Loopback("verbs;ofi_rxm").close();
      System.out.println("written over: " + writtenOver() + " KiB");
      System.out.println("left '" + LibC.variable(RegistrationCache.MONITOR) + "'");
    }

    /** How much of the C library's code is no longer the file's. */
    private static int writtenOver() throws IOException {
      int changed = 0;
      boolean code = false;
      boolean found = false;
      for (String line : Files.readAllLines(Path.of("/proc/self/smaps"), StandardCharsets.UTF_8)) {
        if (MAPPING.matcher(line).lookingAt()) {
          code = CODE.matcher(line).matches();
          found |= code;
        }
        Matcher anonymous = ANONYMOUS.matcher(line);
        if (code && anonymous.matches()) {
          changed += Integer.parseInt(anonymous.group(1));
        }
      }
      assertTrue(found, "no C library");
      return changed;
    }
  }

  private ChildProcess.Outcome open(Map<String, String> more) throws Exception {
    try (VerbsDouble adapters = VerbsDouble.devices(1)) {
      Map<String, String> environment = new HashMap<>(adapters.environment());
      environment.putAll(more);
      String library = System.getProperty("jofi.libfabric", "");
      ChildProcess.Outcome outcome =
          ChildProcess.run(folder, Main.class, library, environment, List.of());
      adapters.demandNoViolations();
      return outcome;
    }
  }

  @Test
  void theCodeOfTheCLibraryStaysAsItWas() throws Exception {
    ChildProcess.Outcome outcome = open(Map.of());
    assertEquals(0, outcome.code(), outcome::text);
    assertTrue(outcome.text().contains("written over: 0 KiB"), outcome::text);
    // Whoever this process starts, or what else is in it, sees what the user set alone.
    assertTrue(outcome.text().contains("left ''"), outcome::text);
  }

  /** What the other test would see, and what it is about. */
  @Test
  void aUserMayChooseOtherwise() throws Exception {
    ChildProcess.Outcome outcome;
    int runs = 0;
    do {
      outcome = open(Map.of(RegistrationCache.MONITOR, "memhooks"));
      runs++;
    } while (outcome.code() == KILLED_BY_SIGSEGV && runs < MOST_RUNS);
    assertEquals(0, outcome.code(), outcome::text);
    assertTrue(outcome.text().contains("written over: "), outcome::text);
    assertFalse(outcome.text().contains("written over: 0 KiB"), outcome::text);
    assertTrue(outcome.text().contains("left 'memhooks'"), outcome::text);
  }

  @Test
  void someNicsNeedIt() throws IOException {
    assertFalse(RegistrationCache.isNeeded(folder));
    Path infiniband = Files.createDirectories(folder.resolve("class/infiniband"));
    Files.createDirectory(infiniband.resolve("mlx5_0"));
    Path cxi = Files.createDirectory(folder.resolve("class/cxi"));
    assertFalse(RegistrationCache.isNeeded(folder));
    Files.createDirectory(cxi.resolve("cxi0"));
    assertTrue(RegistrationCache.isNeeded(folder));
    Files.delete(cxi.resolve("cxi0"));
    Files.createDirectory(infiniband.resolve("hfi1_0"));
    assertTrue(RegistrationCache.isNeeded(folder));
  }
}
