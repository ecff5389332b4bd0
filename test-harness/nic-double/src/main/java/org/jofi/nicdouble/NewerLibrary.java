package org.jofi.nicdouble;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How programs in C are started on the libfabric under test. A second one needs another C library,
 * and with it that one's dynamic linker.
 */
public final class NewerLibrary {
  /** That linker, its libraries in lib beside it; empty: the system's libfabric is under test. */
  private static final String LOADER = System.getProperty("jofi.test.loader", "");

  private NewerLibrary() {}

  /** Whether it is, and not the system's. */
  public static boolean isUnderTest() {
    return !LOADER.isEmpty();
  }

  /** One of its own programs. */
  public static Path program(String name) {
    return Path.of(LOADER).resolveSibling("root/usr/bin").resolve(name);
  }

  /** A program that is about to be started on the devices. */
  public static ProcessBuilder start(NicDouble nics, Path program, List<String> arguments) {
    List<String> command = new ArrayList<>();
    if (isUnderTest()) {
      String libraries =
          nics.environment().get("JOFI_LIBRARY_PATH") + ":" + Path.of(LOADER).resolveSibling("lib");
      command.addAll(List.of(LOADER, "--library-path", libraries));
    }
    command.add(program.toString());
    command.addAll(arguments);
    return nics.on(new ProcessBuilder(command));
  }
}
