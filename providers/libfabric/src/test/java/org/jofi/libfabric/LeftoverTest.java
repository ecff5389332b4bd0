package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
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
 * number left is passed over, within reason, else told.
 */
@Timeout(60)
class LeftoverTest {
  private static final long PID = ProcessHandle.current().pid();
  private static final int FEW = 16;
  private static final int MANY = 100;

  /** What libfabric looks at: version and process. */
  private static final int HEAD_BYTES = 4096;

  @Test
  void filesOfAKilledProcessArePassedOver() throws IOException {
    List<Path> left = new ArrayList<>();
    try (Loopback loopback = new Loopback("shm")) {
      leave(left, FEW);
      try (Loopback another = new Loopback("shm")) {
        assertNotEquals(loopback.endpoint.toString(), another.endpoint.toString());
        List<Path> mine = files();
        assertFalse(left.contains(mine.getLast()), mine::toString);
      }
    } finally {
      remove(left);
    }
  }

  @Test
  void tooManyOfThemAreNamedWithTheRemedy() throws IOException {
    List<Path> left = new ArrayList<>();
    try (Loopback loopback = new Loopback("shm")) {
      leave(left, MANY);
      FabricException refused = assertThrows(FabricException.class, () -> new Loopback("shm"));
      assertEquals(FabricErrno.EBUSY, refused.errno(), refused::getMessage);
      assertTrue(refused.getMessage().contains("rm /dev/shm/" + PID + ":*"), refused::getMessage);
      assertTrue(loopback.endpoint.toString().contains("shm"));
    } finally {
      remove(left);
    }
  }

  /** Puts files under the names that the next endpoints will have. */
  private static void leave(List<Path> left, int names) throws IOException {
    List<Path> mine = files();
    assertFalse(mine.isEmpty(), "no file in /dev/shm");
    Path newest = mine.getLast();
    String name = String.valueOf(newest.getFileName());
    int last = number(newest);
    byte[] head;
    try (InputStream in = Files.newInputStream(newest)) {
      head = in.readNBytes(HEAD_BYTES);
    }
    for (int next = last + 1; next <= last + names; next++) {
      Path copy =
          newest.resolveSibling(
              name.substring(0, name.lastIndexOf(':') + 1)
                  + next
                  + name.substring(name.lastIndexOf('-')));
      Files.write(copy, head);
      left.add(copy);
    }
  }

  private static void remove(List<Path> left) throws IOException {
    for (Path file : left) {
      Files.deleteIfExists(file);
    }
  }

  private static List<Path> files() throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(Path.of("/dev/shm"), PID + ":[0-9]*:[0-9]*-*")) {
      files.forEach(found::add);
    }
    found.sort((one, other) -> Integer.compare(number(one), number(other)));
    return found;
  }

  private static int number(Path file) {
    String name = String.valueOf(file.getFileName());
    return Integer.parseInt(name.substring(name.lastIndexOf(':') + 1, name.lastIndexOf('-')));
  }
}
