package org.jofi.libfabric;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * libfabric's own cache of registrations, which is off unless the user chose a monitor for it: jofi
 * keeps its registrations itself. The monitor that libfabric chooses on most machines, memhooks,
 * writes over the first 13 bytes of {@code madvise}, {@code munmap} and others while the process
 * runs. A thread that is within one of them, as each is that ends, goes on in the middle of what
 * was written, and the process ends by SIGSEGV, without a word of the JVM. And a region that is in
 * the cache stays registered when it is closed, with more rights than were asked for.
 *
 * <p>The verbs provider caches although jofi asks for FI_MR_LOCAL; efa does not then.
 */
final class RegistrationCache {
  /** Libfabric reads it once, before its providers. */
  static final String MONITOR = "FI_MR_CACHE_MONITOR";

  static final String DISABLED = "disabled";

  private RegistrationCache() {}

  /**
   * Whether there is a NIC whose provider does not do without: cxi translates local buffers by it,
   * and opx opens no domain (opx_open_tid_cache).
   *
   * @param system the root of /sys
   */
  static boolean isNeeded(Path system) {
    return has(system.resolve("class/cxi"), "*")
        || has(system.resolve("class/infiniband"), "hfi1_*");
  }

  private static boolean has(Path folder, String name) {
    if (!Files.isDirectory(folder)) {
      return false;
    }
    try (DirectoryStream<Path> devices = Files.newDirectoryStream(folder, name)) {
      return devices.iterator().hasNext();
    } catch (IOException unreadable) {
      return false;
    }
  }
}
