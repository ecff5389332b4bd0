package org.jofi.nccl.layout;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The libraries that a library needs besides the C library, as the dynamic linker finds them.
 *
 * @param files those that can be copied with it
 * @param others names of those that must come from the machine that it runs on
 */
record SharedLibraries(List<Path> files, SortedSet<String> others) {
  private static final Pattern FOUND = Pattern.compile("\\s*(\\S+) => (/\\S+) \\(0x.*");
  private static final Pattern MISSING = Pattern.compile("\\s*(\\S+) => not found");

  /** Libraries of the C library, which must be the system's. */
  private static final Pattern SYSTEM =
      Pattern.compile("(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv)\\.so.*");

  /**
   * Libraries that must come from the machine: those of drivers, which have to match the kernel;
   * rdma-core, whose plugins are the machine's, and libnl, which it needs; and the compiler's
   * runtime, since other libraries in the process may need the machine's newer one.
   */
  private static final Pattern MACHINE =
      Pattern.compile(
          "(libcuda|libcudart|libnvidia\\S*|libibverbs|libibumad|librdmacm|libefa|libmlx\\d+|libmana"
              + "|libnl-\\S+|libstdc\\+\\+|libgcc_s)\\.so.*");

  /**
   * Asks the dynamic linker, with ldd.
   *
   * @throws PluginFolderException if one of them is not on this machine
   */
  static SharedLibraries neededBy(Path library) {
    return parse(library, Tool.run(List.of("ldd", library.toString())));
  }

  /** Reads the output of ldd. */
  static SharedLibraries parse(Path library, String printed) {
    List<Path> files = new ArrayList<>();
    SortedSet<String> others = new TreeSet<>();
    for (String line : printed.lines().toList()) {
      Matcher missing = MISSING.matcher(line);
      Matcher found = FOUND.matcher(line);
      if (missing.matches() && MACHINE.matcher(missing.group(1)).matches()) {
        others.add(missing.group(1));
      } else if (missing.matches()) {
        throw PluginFolderException.lacking(
            "%s needs %s, which is not on this machine".formatted(library, missing.group(1)));
      } else if (found.matches() && MACHINE.matcher(found.group(1)).matches()) {
        others.add(found.group(1));
      } else if (found.matches() && !SYSTEM.matcher(found.group(1)).matches()) {
        files.add(Path.of(found.group(2)));
      }
    }
    return new SharedLibraries(files, others);
  }
}
