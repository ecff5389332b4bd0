package org.jofi.efadouble;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How programs in C are started on the libfabric under test. A second one needs another C library,
 * and with it that one's dynamic linker.
 */
final class NewerLibrary {
  /** That linker, its libraries in lib beside it; empty: the system's libfabric is under test. */
  private static final String LOADER = System.getProperty("jofi.test.loader", "");

  private NewerLibrary() {}

  static boolean isUnderTest() {
    return !LOADER.isEmpty();
  }

  /** One of its own programs. */
  static Path program(String name) {
    return Path.of(LOADER).resolveSibling("root/usr/bin").resolve(name);
  }

  /** A program that is about to be started on the devices. */
  static ProcessBuilder start(EfaDouble efa, Path program, List<String> arguments) {
    List<String> command = new ArrayList<>();
    if (isUnderTest()) {
      String libraries =
          efa.environment().get("JOFI_LIBRARY_PATH") + ":" + Path.of(LOADER).resolveSibling("lib");
      command.addAll(List.of(LOADER, "--library-path", libraries));
    }
    command.add(program.toString());
    command.addAll(arguments);
    return efa.on(new ProcessBuilder(command));
  }
}
