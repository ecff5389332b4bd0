package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Who is watched, and whose lock is left alone. That the locks of the dead are freed, see KillTest
 * of the processes module.
 */
@Timeout(60)
class SharedMemoryWatchTest {
  private static final int SELF = (int) ProcessHandle.current().pid();

  @Test
  void whoLivesIsNotOverAndWhoEndedIs() throws Exception {
    ProcessLife self = ProcessLife.now(SELF);
    assertNotNull(self);
    assertFalse(self.isOver());
    assertTrue(new ProcessLife(SELF, self.startTicks() - 1).isOver(), "an earlier life");
    Process child = new ProcessBuilder("sleep", "60").start();
    ProcessLife life = ProcessLife.now((int) child.pid());
    assertNotNull(life);
    assertFalse(life.isOver());
    child.destroyForcibly().waitFor();
    assertTrue(life.isOver());
    assertNull(ProcessLife.now((int) child.pid()));
  }

  @Test
  void aDeadProcessThatNobodyWaitsForIsOver() throws Exception {
    // The shell becomes a sleep, which waits for no child of its own.
    Process parent = new ProcessBuilder("sh", "-c", "sleep 0.1 & echo $!; exec sleep 60").start();
    try (var lines = parent.inputReader(StandardCharsets.UTF_8)) {
      ProcessLife life = ProcessLife.now(Integer.parseInt(lines.readLine().trim()));
      assertNotNull(life);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (!life.isOver()) {
        assertTrue(System.nanoTime() - deadline < 0, "still alive");
        Thread.sleep(10);
      }
      assertNotNull(ProcessLife.now(life.pid()), "nobody waited for it");
    } finally {
      parent.destroyForcibly();
    }
  }

  @Test
  void namesFromTheWireOpenNoOtherFile() {
    assertNull(SharedMemoryRegion.map(""));
    assertNull(SharedMemoryRegion.map("../../etc/passwd"));
    assertNull(SharedMemoryRegion.map("1:2:3:no-such-endpoint"));
  }

  @Test
  void theWatchEndsWithTheLastEndpointAndTakesNoLockOfTheLiving() throws Exception {
    SharedMemoryRegion region;
    try (Loopback loopback = new Loopback("shm")) {
      String text = SocketAddresses.string(loopback.endpoint.address());
      region = SharedMemoryRegion.map(text.substring(text.indexOf("://") + 3));
      if (region == null) {
        // The head of later versions is not known, and nothing is watched.
        assertEquals(0, watchers());
        return;
      }
      assertEquals(SELF, region.pid());
      assertFalse(region.isLocked());
      assertEquals(1, watchers());
      hold(region.name());
      long until = System.nanoTime() + 2 * SharedMemoryWatch.HELD_NS;
      while (System.nanoTime() - until < 0) {
        assertTrue(region.isLocked(), "taken from a process that lives");
        Thread.sleep(1);
      }
      region.free();
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (watchers() > 0) {
      assertTrue(System.nanoTime() - deadline < 0, "the watch goes on");
      Thread.sleep(10);
    }
  }

  private static void hold(String name) throws IOException {
    try (FileChannel file =
            FileChannel.open(
                Path.of("/dev/shm", name), StandardOpenOption.READ, StandardOpenOption.WRITE);
        Arena arena = Arena.ofConfined()) {
      file.map(FileChannel.MapMode.READ_WRITE, 24, Integer.BYTES, arena)
          .set(ValueLayout.JAVA_INT, 0, 1 - LibC.freeSpinLock());
    }
  }

  private static long watchers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("jofi-shm-watch"))
        .count();
  }
}
