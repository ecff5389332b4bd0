package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jofi.fabric.FabricUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each way to have no libfabric, in a process of its own: a library is loaded once for all. */
@Timeout(120)
class LibraryLoadingTest {
  @TempDir private Path folder;

  /** Prints the version, or why there is none. */
  static final class Main {
    private Main() {}

    @SuppressWarnings("restricted")
    public static void main(String[] arguments) {
      if (arguments.length > 0) {
        SymbolLookup.libraryLookup(arguments[0], Arena.global());
      }
      try {
        System.out.println(new LibfabricProvider().version());
      } catch (FabricUnavailableException missing) {
        System.out.println(missing.getMessage());
        System.exit(3);
      }
    }
  }

  private ChildProcess.Outcome load(String library, String variable)
      throws IOException, InterruptedException {
    return load(library, variable, List.of());
  }

  /**
   * @param before what the process has loaded before
   */
  private ChildProcess.Outcome load(String library, String variable, List<String> before)
      throws IOException, InterruptedException {
    return ChildProcess.run(
        folder,
        Main.class,
        library,
        // An empty one is none.
        Map.of("JOFI_LIBFABRIC", variable),
        before);
  }

  private void assertMissing(String library, String reason)
      throws IOException, InterruptedException {
    assertMissing(load(library, ""), library, reason);
  }

  private static void assertMissing(ChildProcess.Outcome outcome, String library, String reason) {
    assertEquals(3, outcome.code(), outcome.text());
    for (String part :
        List.of(library, reason, "-Djofi.libfabric=PATH", "JOFI_LIBFABRIC=PATH", "Install it")) {
      assertTrue(outcome.text().contains(part), () -> "no '" + part + "' in:\n" + outcome.text());
    }
  }

  @Test
  void noSuchFile() throws IOException, InterruptedException {
    assertMissing(folder.resolve("libfabric.so.1").toString(), "no such file");
  }

  /** It is dealt with as the property's value is. */
  @Test
  void noSuchFileOfTheVariable() throws IOException, InterruptedException {
    String library = folder.resolve("libfabric.so.1").toString();
    assertMissing(load("", library), library, "no such file");
  }

  @Test
  void aFolder() throws IOException, InterruptedException {
    assertMissing(folder.toString(), "is a directory");
  }

  @Test
  void noLibrary() throws IOException, InterruptedException {
    Path file = folder.resolve("libfabric.so.1");
    Files.writeString(file, "#!/bin/sh\n".repeat(100));
    assertMissing(file.toString(), "has no ELF header");
  }

  @Test
  void anotherArchitecture() throws IOException, InterruptedException {
    byte[] elf = Files.readAllBytes(Path.of("/proc/self/exe"));
    // e_machine of the ELF header: SPARC V9, which no JVM of today runs on.
    elf[18] = 43;
    elf[19] = 0;
    Path file = folder.resolve("libfabric.so.1");
    Files.write(file, elf);
    assertMissing(file.toString(), "is for machine type 43, and this JVM is for ");
  }

  @Test
  void anotherLibrary() throws IOException, InterruptedException {
    assertMissing(otherLibrary().toString(), "its soname is not libfabric.so.1");
  }

  /** Of the same name, since the host program loaded its own. */
  @Test
  void anotherLibfabricIsThereAlready() throws IOException, InterruptedException {
    Path installed =
        Stream.of("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")
            .map(each -> Path.of(each, "libfabric.so.1"))
            .filter(Files::exists)
            .findFirst()
            .orElseThrow();
    Path copy = Files.copy(installed, folder.resolve("libfabric.so.1"));
    ChildProcess.Outcome outcome = load(copy.toString(), "", List.of(installed.toString()));
    assertMissing(outcome, copy.toString(), "this process has another libfabric already");
    assertTrue(outcome.text().contains("JOFI_LIBFABRIC=" + installed.toRealPath()), outcome.text());
  }

  private static Path otherLibrary() {
    return Path.of(System.getProperty("java.home"), "lib", "libjava.so");
  }

  @Test
  void aNameWithoutFolderIsAFileAllTheSame() throws IOException, InterruptedException {
    ChildProcess.Outcome outcome = load("libm.so.6", "");
    assertEquals(3, outcome.code(), outcome.text());
    assertTrue(outcome.text().contains("/libm.so.6: no such file"), outcome.text());
  }

  @Test
  void thePropertyComesFirst() throws IOException, InterruptedException {
    ChildProcess.Outcome outcome =
        load(folder.resolve("absent").toString(), otherLibrary().toString());
    assertTrue(outcome.text().contains("absent"), outcome.text());
  }
}
