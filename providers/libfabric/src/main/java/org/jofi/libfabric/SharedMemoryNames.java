package org.jofi.libfabric;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jofi.fabric.AddressText;

/**
 * Names of endpoints of libfabric's shm provider, which are the names of their files in shared
 * memory. libfabric makes them of the process's number, the user's and a counter. Containers that
 * share the folder have processes of equal numbers, and libfabric takes another's live file for one
 * of a dead process: it empties the file, and that process crashes (smr_create in its
 * prov/shm/src/smr_util.c). So the number of the PID namespace comes behind.
 */
final class SharedMemoryNames {
  private static final Path NAMESPACE = Path.of("/proc/self/ns/pid");
  private static final String SUFFIX = suffix();

  private SharedMemoryNames() {}

  /**
   * A name that no process of another PID namespace has.
   *
   * @param name libfabric's own, with a closing zero: {@code fi_shm://PID:USER:ENDPOINT}
   */
  static byte[] inThisNamespace(byte[] name) {
    return (AddressText.string(name) + SUFFIX + "\0").getBytes(StandardCharsets.US_ASCII);
  }

  /** The number behind a dash, in hexadecimal digits; empty where the kernel does not tell it. */
  private static String suffix() {
    try {
      String number =
          Files.readSymbolicLink(NAMESPACE).toString().replaceAll("pid:\\[([0-9]{1,18})]", "$1");
      return "-" + Long.toHexString(Long.parseLong(number));
    } catch (IOException | NumberFormatException unknown) {
      return "";
    }
  }
}
