package org.jofi.cli.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedMemoryTest {
  @Test
  void onlyThatProcessesFilesGo(@TempDir Path folder) throws Exception {
    for (String name : Set.of("71:0:0", "71:0:12", "71", "171:0:0", "71:0:0.log", "71:a:0")) {
      Files.createFile(folder.resolve(name));
    }
    SharedMemory.clear(folder, 71);
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(
          Set.of("71", "171:0:0", "71:0:0.log", "71:a:0"),
          left.map(file -> file.getFileName().toString())
              .collect(Collectors.toCollection(TreeSet::new)));
    }
    SharedMemory.clear(folder.resolve("absent"), 71);
  }
}
