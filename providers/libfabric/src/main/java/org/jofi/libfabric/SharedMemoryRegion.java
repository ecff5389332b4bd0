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
 * The start of the shared memory that libfabric's shm provider has for one endpoint: struct
 * smr_region, versions 2 to 5 (libfabric 1.15 to 1.19). Later versions are not handled: they hold
 * the lock only for the moment of taking a buffer, and its offset differs between builds.
 *
 * <p>Any thread. The memory stays mapped until this object is unreachable, so every access is
 * valid.
 */
final class SharedMemoryRegion {
  private static final Path DIRECTORY = Path.of("/dev/shm");
  private static final int FIRST_VERSION = 2;
  private static final int LAST_VERSION = 5;
  private static final long PID_OFFSET = 4;
  private static final long LOCK_OFFSET = 24;

  /**
   * The fields before this offset can change while the lock is held: the lock's own word, which a
   * waiting thread counts down on x86; the signal next to it, which a poll resets; the number of
   * buffers per peer, which depends on the number of peers; and whether peers read each other's
   * memory.
   */
  private static final long GUARDED_OFFSET = 32;

  /** Includes the counters of the command queue and the first commands. */
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
   * Maps the region with this name.
   *
   * @param name the part of the endpoint's address after "fi_shm://"; a name that is not a plain
   *     file name has no region
   * @return null if there is none, it cannot be opened, or its version is not supported
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

  /** Id of the process that owns the endpoint. */
  int pid() {
    return pid;
  }

  /** Whether the lock is held now. */
  boolean isLocked() {
    return (int) INT.getAcquire(head, LOCK_OFFSET) != FREE;
  }

  /**
   * A copy of the counters of its command queue. As long as the lock is held and the copy stays the
   * same, the holder neither takes nor adds a command.
   */
  byte[] state() {
    return head.asSlice(GUARDED_OFFSET).toArray(ValueLayout.JAVA_BYTE);
  }

  /** Frees the lock, whoever holds it. */
  void free() {
    INT.setRelease(head, LOCK_OFFSET, FREE);
  }
}
