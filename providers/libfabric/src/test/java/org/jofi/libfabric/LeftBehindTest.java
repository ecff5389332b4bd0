package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Over shm an endpoint is a file, named by the process's number. What a killed process of the same
 * number left is in the way, and is told.
 */
@Timeout(60)
class LeftBehindTest {
  private static final long PID = ProcessHandle.current().pid();
  private static final int NAMES = 16;

  @Test
  void filesOfAKilledProcessAreNamedWithTheRemedy() throws IOException {
    List<Path> left = new ArrayList<>();
    try (Loopback loopback = new Loopback("shm")) {
      List<Path> mine = files();
      assertFalse(mine.isEmpty(), () -> "no file in /dev/shm of " + loopback.endpoint);
      Path newest = mine.getLast();
      String name = String.valueOf(newest.getFileName());
      int last = number(newest);
      for (int next = last + 1; next <= last + NAMES; next++) {
        Path copy = newest.resolveSibling(name.substring(0, name.lastIndexOf(':') + 1) + next);
        Files.copy(newest, copy);
        left.add(copy);
      }
      FabricException refused = assertThrows(FabricException.class, () -> new Loopback("shm"));
      assertEquals(FabricErrno.EBUSY, refused.errno(), refused::getMessage);
      assertTrue(refused.getMessage().contains("rm /dev/shm/" + PID + ":*"), refused::getMessage);
    } finally {
      for (Path file : left) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static List<Path> files() throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(Path.of("/dev/shm"), PID + ":[0-9]*:[0-9]*")) {
      files.forEach(found::add);
    }
    found.sort((one, other) -> Integer.compare(number(one), number(other)));
    return found;
  }

  private static int number(Path file) {
    String name = String.valueOf(file.getFileName());
    return Integer.parseInt(name.substring(name.lastIndexOf(':') + 1));
  }
}
