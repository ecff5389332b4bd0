package org.jofi.nccl.layout;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which libraries a library needs, as the dynamic linker finds them. */
final class SharedLibraries {
  private static final Pattern FOUND = Pattern.compile("\\s*(\\S+) => (/\\S+) \\(0x.*");
  private static final Pattern MISSING = Pattern.compile("\\s*(\\S+) => not found");

  /** Of the C library, whose version is the system's, and cannot be another. */
  private static final Pattern SYSTEM =
      Pattern.compile(
          "(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libgcc_s)\\.so.*");

  private SharedLibraries() {}

  /**
   * Those beyond the C library.
   *
   * @throws PluginFolderException if one is not on this machine
   */
  static List<Path> neededBy(Path library) {
    return parse(library, Tool.run(List.of("ldd", library.toString())));
  }

  /** Reads what ldd printed. */
  static List<Path> parse(Path library, String printed) {
    List<Path> needed = new ArrayList<>();
    for (String line : printed.lines().toList()) {
      Matcher missing = MISSING.matcher(line);
      if (missing.matches()) {
        throw PluginFolderException.lacking(
            "%s needs %s, which is not on this machine".formatted(library, missing.group(1)));
      }
      Matcher found = FOUND.matcher(line);
      if (found.matches() && !SYSTEM.matcher(found.group(1)).matches()) {
        needed.add(Path.of(found.group(2)));
      }
    }
    return needed;
  }
}
