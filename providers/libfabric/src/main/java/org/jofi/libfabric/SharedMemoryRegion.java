package org.jofi.libfabric;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The head of what libfabric's shm provider keeps in shared memory for one endpoint: struct
 * smr_region, versions 2 to 5 (libfabric 1.15 to 1.19). Later versions hold the lock for the moment
 * of taking a buffer, and place it differently from build to build: those are left alone.
 *
 * <p>Any thread. Mapped until the last reference to it is gone, so no access can come too late.
 */
final class SharedMemoryRegion {
  private static final Path DIRECTORY = Path.of("/dev/shm");
  private static final int FIRST_VERSION = 2;
  private static final int LAST_VERSION = 5;
  private static final long PID_OFFSET = 4;
  private static final long LOCK_OFFSET = 24;

  /**
   * What lies before changes without the lock: its own word, which a waiter counts down on x86, the
   * signal beside it, which a poll resets, how many buffers a peer may have, which follows the
   * number of peers, and whether they read each other's memory.
   */
  private static final long GUARDED_OFFSET = 32;

  /** With the counters of the queue of commands, and the first commands themselves. */
  private static final long HEAD_BYTES = 512;

  private static final int FREE = LibC.freeSpinLock();
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private final String name;
  private final MemorySegment head;
  private final int pid;

  private SharedMemoryRegion(String name, MemorySegment head) {
    this.name = name;
    this.head = head;
    pid = (int) INT.getAcquire(head, PID_OFFSET);
  }

  /**
   * Maps the region of that name.
   *
   * @param name as the endpoint's address has it behind "fi_shm://"; what is no plain file name has
   *     no region
   * @return null if there is none, it cannot be opened, or its version is not known
   */
  static @Nullable SharedMemoryRegion map(String name) {
    if (!name.matches("[0-9A-Za-z:_-]+")) {
      return null;
    }
    try (FileChannel file =
        FileChannel.open(
            DIRECTORY.resolve(name), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (file.size() < HEAD_BYTES) {
        return null;
      }
      MemorySegment head = file.map(FileChannel.MapMode.READ_WRITE, 0, HEAD_BYTES, Arena.ofAuto());
      int version = Byte.toUnsignedInt(head.get(ValueLayout.JAVA_BYTE, 0));
      return version < FIRST_VERSION || version > LAST_VERSION
          ? null
          : new SharedMemoryRegion(name, head);
    } catch (IOException gone) {
      return null;
    }
  }

  String name() {
    return name;
  }

  /** Number of the process whose endpoint this is. */
  int pid() {
    return pid;
  }

  /** Whether somebody holds the lock now. */
  boolean isLocked() {
    return (int) INT.getAcquire(head, LOCK_OFFSET) != FREE;
  }

  /**
   * A copy of the counters of its queue: while it stays the same and the lock is held, its holder
   * neither takes a command nor gives one.
   */
  byte[] state() {
    return head.asSlice(GUARDED_OFFSET).toArray(ValueLayout.JAVA_BYTE);
  }

  /** Takes the lock from who holds it. */
  void free() {
    INT.setRelease(head, LOCK_OFFSET, FREE);
  }
}
