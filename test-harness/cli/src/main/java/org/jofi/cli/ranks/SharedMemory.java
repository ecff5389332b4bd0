package org.jofi.cli.ranks;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What libfabric's shm provider keeps in shared memory: a file per endpoint, {@code
 * PID:DOMAIN:ENDPOINT}. A process that is killed leaves its files behind, and one that gets its
 * number later cannot open its own endpoints: fi_enable fails with EBUSY.
 */
public final class SharedMemory {
  private static final Path FOLDER = Path.of("/dev/shm");
  private static final long KILL_WITHIN_SECONDS = 5;
  private static final Set<ProcessHandle> CHILDREN = ConcurrentHashMap.newKeySet();

  private static volatile boolean ending;

  private SharedMemory() {}

  /**
   * From now on this process clears up when it ends, unless it is killed outright: SIGINT and
   * SIGTERM too. It ends the children that {@link #clearAfter} was told of, and removes their files
   * and its own.
   */
  public static void clearAtEnd() {
    Runtime.getRuntime().addShutdownHook(new Thread(SharedMemory::end, "clear-shared-memory"));
  }

  /** Clears what a child process leaves once it ends, however that is. */
  public static void clearAfter(ProcessHandle child) {
    CHILDREN.add(child);
    var _ =
        child
            .onExit()
            .thenAccept(
                ended -> {
                  clear(ended.pid());
                  CHILDREN.remove(ended);
                });
  }

  /** Whether this process is being ended, and its children with it. */
  static boolean isEnding() {
    return ending;
  }

  private static void end() {
    ending = true;
    CHILDREN.forEach(ProcessHandle::destroyForcibly);
    for (ProcessHandle child : CHILDREN) {
      try {
        child.onExit().get(KILL_WITHIN_SECONDS, TimeUnit.SECONDS);
        clear(child.pid());
      } catch (InterruptedException | ExecutionException | TimeoutException e) {
        // It lives, or nobody knows; its files are then its own.
        System.getLogger(SharedMemory.class.getName())
            .log(System.Logger.Level.DEBUG, "process " + child.pid() + " does not end", e);
      }
    }
    clear(ProcessHandle.current().pid());
  }

  /** Removes what a process left that is dead, or that is this one and has opened nothing yet. */
  static void clear(long pid) {
    clear(FOLDER, pid);
  }

  static void clear(Path folder, long pid) {
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(
            folder, file -> String.valueOf(file.getFileName()).matches(pid + ":[0-9]+:[0-9]+"))) {
      for (Path file : left) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      System.getLogger(SharedMemory.class.getName())
          .log(System.Logger.Level.DEBUG, "cannot clear what process " + pid + " left", e);
    }
  }
}
