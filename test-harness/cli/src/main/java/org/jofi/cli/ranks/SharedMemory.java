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
import org.jofi.transport.diagnostics.Log;

/**
 * Removes files of libfabric's shm provider from shared memory. There is one for each endpoint,
 * {@code PID:USER:ENDPOINT-NAMESPACE}, the last of which is the number of the PID namespace. A
 * process that is killed leaves its files behind, which hold memory.
 *
 * <p>A process of another namespace may have the same number, and lives on: its files have other
 * names, and are never touched.
 */
public final class SharedMemory {
  private static final Log LOG = new Log(Log.Name.RANKS);
  private static final Path FOLDER = Path.of("/dev/shm");
  private static final long KILL_WITHIN_SECONDS = 5;
  private static final Set<ProcessHandle> CHILDREN = ConcurrentHashMap.newKeySet();

  private static volatile boolean ending;

  private SharedMemory() {}

  /**
   * Makes this process clean up when it ends, also after SIGINT or SIGTERM, but not after SIGKILL.
   * It ends the children that were passed to {@link #clearAfter}, and removes their files and its
   * own.
   */
  public static void clearAtEnd() {
    Runtime.getRuntime().addShutdownHook(new Thread(SharedMemory::end, "clear-shared-memory"));
  }

  /** Removes the files of a child process when it ends, in any way. */
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

  /** Whether this process is being ended, together with its children. */
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
        // The process is alive or its state is unknown; keep its files.
        LOG.log(System.Logger.Level.DEBUG, "process " + child.pid() + " does not end", e);
      }
    }
    clear(ProcessHandle.current().pid());
  }

  /**
   * Removes the files that a process left. The process must be dead, or be this one before it has
   * opened an endpoint.
   */
  static void clear(long pid) {
    clear(FOLDER, pid, namespace());
  }

  /**
   * The number of this process's PID namespace, in hexadecimal digits; empty if it is not known.
   */
  private static String namespace() {
    try {
      String link = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
      return Long.toHexString(Long.parseLong(link.replaceAll("[^0-9]", "")));
    } catch (IOException | NumberFormatException e) {
      return "";
    }
  }

  static void clear(Path folder, long pid, String namespace) {
    if (namespace.isEmpty()) {
      return;
    }
    String names = "%d:[0-9]+:[0-9]+-%s".formatted(pid, namespace);
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(
            folder, file -> String.valueOf(file.getFileName()).matches(names))) {
      for (Path file : left) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "cannot clear what process " + pid + " left", e);
    }
  }
}
