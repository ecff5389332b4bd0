package org.jofi.cli.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryKillerTest {
  @TempDir private Path folder;

  @Test
  void tellsOfThoseThatWereKilledMeanwhile() throws Exception {
    Path counters = folder.resolve("vmstat");
    Files.writeString(counters, "nr_free 1\noom_kill 3\noom_kill_disable 7\n");
    MemoryKiller killer = new MemoryKiller(counters);
    assertEquals("", killer.words());
    Files.writeString(counters, "nr_free 1\noom_kill 5\noom_kill_disable 7\n");
    assertTrue(killer.words().contains("ended 2 process(es) meanwhile"), killer.words());
    Files.delete(counters);
    assertEquals("", killer.words());
    assertEquals("", new MemoryKiller(counters).words());
  }
}
