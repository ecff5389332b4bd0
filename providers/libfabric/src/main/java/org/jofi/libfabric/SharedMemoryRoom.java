package org.jofi.libfabric;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;

/**
 * Whether shared memory has room for one more endpoint of libfabric's shm provider. Where it has
 * not, the first touch of a page kills the process (SIGBUS), in libfabric or later in any message.
 *
 * <p>Ranks start at the same time. Each holds a lock on the folder from the look at what is free
 * until its endpoint has what it takes at once.
 */
final class SharedMemoryRoom implements AutoCloseable {
  /**
   * What an endpoint needs, in bytes: of its 16 MiB it takes 4 at once (libfabric 1.17, 2.1), and
   * more as messages come, by how many are under way.
   */
  private static final long NEEDED_BYTES = 8L << 20;

  /**
   * What libfabric wants to be free for each processor before it lists the provider: the whole file
   * of an endpoint (smr_shm_space_check in its prov/shm/src/smr_init.c).
   */
  private static final long LISTED_BYTES = 16L << 20;

  private static final Path FOLDER = Path.of("/dev/shm");
  private static final long MEBIBYTE = 1L << 20;

  /** Whoever holds the lock for longer hangs, and is not waited for. */
  private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(5);

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final int folder;

  private SharedMemoryRoom(int folder) {
    this.folder = folder;
  }

  /**
   * Waits for its turn, and looks. The caller closes this when its endpoint is enabled.
   *
   * @throws FabricException {@code ENOSPC} if there is no room
   */
  static SharedMemoryRoom take() {
    SharedMemoryRoom room = new SharedMemoryRoom(LibC.open(FOLDER.toString()));
    long begun = System.nanoTime();
    while (room.folder >= 0 && !LibC.lock(room.folder) && System.nanoTime() - begun < BOUND_NS) {
      LockSupport.parkNanos(PAUSE_NS);
    }
    try {
      look();
      return room;
    } catch (RuntimeException e) {
      room.close();
      throw e;
    }
  }

  private static void look() {
    long free;
    long size;
    try {
      FileStore store = Files.getFileStore(FOLDER);
      free = store.getUsableSpace();
      size = store.getTotalSpace();
    } catch (IOException unknown) {
      return;
    }
    if (free < NEEDED_BYTES) {
      throw new FabricException(
          "fi_enable",
          FabricErrno.ENOSPC,
          "an endpoint over shm needs %d MiB of %s, %s"
              .formatted(NEEDED_BYTES / MEBIBYTE, FOLDER, remedy(size, free)),
          FOLDER.toString());
    }
  }

  private static String remedy(long size, long free) {
    return "of whose %d MiB %d are free; enlarge it (docker run --shm-size=1g; mount -o remount,size=1g %s), start fewer ranks, or choose another provider"
        .formatted(size / MEBIBYTE, free / MEBIBYTE, FOLDER);
  }

  /** Why libfabric leaves the provider out, a sentence; empty if there is room. */
  static String whyMissing() {
    try {
      FileStore store = Files.getFileStore(FOLDER);
      long wanted = LISTED_BYTES * Runtime.getRuntime().availableProcessors();
      long free = store.getUsableSpace();
      return free >= wanted
          ? ""
          : "libfabric lists shm only with %d MiB free in %s, 16 for each processor, %s."
              .formatted(wanted / MEBIBYTE, FOLDER, remedy(store.getTotalSpace(), free));
    } catch (IOException absent) {
      return "There is no folder %s for shared memory.".formatted(FOLDER);
    }
  }

  @Override
  public void close() {
    if (folder >= 0) {
      LibC.close(folder);
    }
  }
}
