package org.jofi.cli.ranks;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What libfabric's shm provider keeps in shared memory: a file per endpoint, {@code
 * PID:DOMAIN:ENDPOINT}. A process that is killed leaves its files behind, and one that gets its
 * number later cannot open its own endpoints: fi_enable fails with EBUSY.
 */
final class SharedMemory {
  private static final Path FOLDER = Path.of("/dev/shm");

  private SharedMemory() {}

  /** Removes what a process left that is dead, or that is this one and has opened nothing yet. */
  static void clear(long pid) {
    clear(FOLDER, pid);
  }

  static void clear(Path folder, long pid) {
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(
            folder, file -> String.valueOf(file.getFileName()).matches(pid + ":[0-9]+:[0-9]+"))) {
      for (Path file : left) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      System.getLogger(SharedMemory.class.getName())
          .log(System.Logger.Level.DEBUG, "cannot clear what process " + pid + " left", e);
    }
  }
}
