package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeftoversTest {
  private static final Instant BEGAN = Instant.ofEpochSecond(1_000_000);

  @TempDir private Path folder;

  private Path file(String name, long seconds) throws IOException {
    Path file = Files.write(folder.resolve(name), new byte[4096]);
    return Files.setLastModifiedTime(file, FileTime.from(BEGAN.plusSeconds(seconds)));
  }

  /** What is in use, older, young, or somebody else's stays. */
  @Test
  void whatNobodyHasMappedIsRemoved() throws IOException {
    file("4711:0:0", 1);
    file("4711:0:1-effffffc", 2);
    file("fe80::efad:0:ffd:0_0_b_1", 3);
    file("4712:0:0-effffffc", -1);
    file("4713:0:0-effffffc", 100);
    file("sem.4711", 1);
    Path used = file("4714:0:0-effffffc", 1);
    try (Arena arena = Arena.ofConfined();
        FileChannel channel =
            FileChannel.open(used, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096, arena);
      assertEquals(3, Leftovers.remove(folder, BEGAN, BEGAN.plusSeconds(50)));
    }
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(
          Set.of("4712:0:0-effffffc", "4713:0:0-effffffc", "sem.4711", "4714:0:0-effffffc"),
          left.map(each -> each.getFileName().toString()).collect(Collectors.toSet()));
    }
  }
}
