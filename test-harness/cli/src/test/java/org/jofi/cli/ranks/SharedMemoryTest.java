package org.jofi.cli.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedMemoryTest {
  @Test
  void onlyThatProcessesFilesGo(@TempDir Path folder) throws Exception {
    Set<String> others =
        Set.of("71", "171:0:0-f0a", "71:0:0-f0b", "71:0:0", "71:0:0-f0a.log", "71:a:0-f0a");
    for (String name : others) {
      Files.createFile(folder.resolve(name));
    }
    Files.createFile(folder.resolve("71:0:0-f0a"));
    Files.createFile(folder.resolve("71:0:12-f0a"));
    SharedMemory.clear(folder, 71, "");
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(others.size() + 2, left.count());
    }
    SharedMemory.clear(folder, 71, "f0a");
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(
          others, left.map(file -> file.getFileName().toString()).collect(Collectors.toSet()));
    }
    SharedMemory.clear(folder.resolve("absent"), 71, "f0a");
  }
}
