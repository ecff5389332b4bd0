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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jofi.fabric.AddressText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Who is watched, whose lock is left alone and whose freed, and when. That real endpoints go on
 * then, see KillTest of the processes module.
 */
@Timeout(60)
class SharedMemoryWatchTest {
  private static final int SELF = (int) ProcessHandle.current().pid();
  private static final Path DIRECTORY = Path.of("/dev/shm");
  private static final long SAR_BUFFERS = 12;
  private static final long LOCK = 24;
  private static final long SIGNAL = 28;
  private static final long COMMANDS = 48;

  /** Longer than anything takes here, also on a busy machine. */
  private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(20);

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
      String text = AddressText.string(loopback.endpoint.address());
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
    theWatchEnds();
  }

  @Test
  void whatHappensUnderOneLockOfTheDeadDelaysNoOther() throws Exception {
    Process owner = new ProcessBuilder("sleep", "60").start();
    String still = "jofi-%d-still".formatted(SELF);
    String waited = "jofi-%d-waited".formatted(SELF);
    String moving = "jofi-%d-moving".formatted(SELF);
    List<String> names = List.of(still, waited, moving);
    try {
      for (String name : names) {
        create(name, (int) owner.pid());
        hold(name);
        SharedMemoryWatch.watch(address(name));
      }
      Thread.sleep(500);
      for (String name : names) {
        assertTrue(SharedMemoryRegion.map(name).isLocked(), "taken from a process that lives");
      }
      long died = System.nanoTime();
      owner.destroyForcibly().waitFor();
      Thread.sleep(500);
      // Others count the lock's word down, reset the signal and limit the buffers of a peer.
      set(waited, LOCK, -1);
      set(waited, SIGNAL, 1);
      set(waited, SAR_BUFFERS, 85);
      // Who holds it takes commands, until the others are free.
      long moved = move(moving, 1);
      for (int commands = 2; isLocked(still) || isLocked(waited); commands++) {
        boolean bothLocked = isLocked(still) && isLocked(waited);
        long since = System.nanoTime() - died;
        assertTrue(bothLocked || since >= SharedMemoryWatch.HELD_NS, "one is free too early");
        assertTrue(since < BOUND_NS, "delayed by one that moves");
        Thread.sleep(100);
        moved = isLocked(moving) ? move(moving, commands) : moved;
      }
      assertFreed(still, died);
      assertFreed(waited, died);
      assertFreed(moving, moved);
    } finally {
      owner.destroyForcibly();
      for (String name : names) {
        SharedMemoryWatch.leave(address(name));
        Files.deleteIfExists(DIRECTORY.resolve(name));
      }
    }
    theWatchEnds();
  }

  private static boolean isLocked(String name) {
    return SharedMemoryRegion.map(name).isLocked();
  }

  /** Counts what its holder took; when it did. */
  private static long move(String name, int commands) throws IOException {
    long now = System.nanoTime();
    set(name, COMMANDS, commands);
    return now;
  }

  /** Not before it was held for long enough, but then. */
  private static void assertFreed(String name, long since) throws InterruptedException {
    SharedMemoryRegion region = SharedMemoryRegion.map(name);
    while (region.isLocked()) {
      assertTrue(
          System.nanoTime() - since < BOUND_NS,
          () -> name + " is held " + (System.nanoTime() - since) + " ns later");
      Thread.sleep(1);
    }
    long took = System.nanoTime() - since;
    assertTrue(took >= SharedMemoryWatch.HELD_NS, () -> name + " is free after " + took + " ns");
  }

  private static void theWatchEnds() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (watchers() > 0) {
      assertTrue(System.nanoTime() - deadline < 0, "the watch goes on");
      Thread.sleep(10);
    }
  }

  /** A region as an endpoint of that process has, version 3 (libfabric 1.17), its lock free. */
  private static void create(String name, int pid) throws IOException {
    Files.write(DIRECTORY.resolve(name), new byte[4096]);
    set(name, 0, 3);
    set(name, 4, pid);
    set(name, LOCK, LibC.freeSpinLock());
  }

  private static byte[] address(String name) {
    return ("fi_shm://" + name + '\0').getBytes(StandardCharsets.US_ASCII);
  }

  private static void hold(String name) throws IOException {
    set(name, LOCK, 1 - LibC.freeSpinLock());
  }

  private static void set(String name, long offset, int value) throws IOException {
    try (FileChannel file =
            FileChannel.open(
                DIRECTORY.resolve(name), StandardOpenOption.READ, StandardOpenOption.WRITE);
        Arena arena = Arena.ofConfined()) {
      file.map(FileChannel.MapMode.READ_WRITE, offset, Integer.BYTES, arena)
          .set(ValueLayout.JAVA_INT, 0, value);
    }
  }

  private static long watchers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("jofi-shm-watch"))
        .count();
  }
}
