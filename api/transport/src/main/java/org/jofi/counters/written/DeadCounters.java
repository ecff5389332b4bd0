package org.jofi.counters.written;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds out whether who wrote counters is dead: nobody holds the lock of its file any more. The
 * process id proves nothing, since it may be one of another container, or be used again.
 */
public final class DeadCounters {
  /** Whether the writer lives. */
  public enum Life {
    /** The lock is held, or it is this process. */
    RUNNING,
    /** Nobody holds the lock. */
    DEAD,
    /** The lock is missing, or cannot be looked at. */
    UNKNOWN
  }

  private static final int MOST_FILES = 16_384;

  private DeadCounters() {}

  /**
   * {@return the file that is locked beside one of counters}
   *
   * @param counters its path
   */
  static Path lockOf(Path counters) {
    String name = String.valueOf(counters.getFileName());
    int end = name.length() - CounterLayout.SUFFIX.length();
    return counters.resolveSibling(
        (name.endsWith(CounterLayout.SUFFIX) ? name.substring(0, end) : name)
            + CounterLayout.LOCK_SUFFIX);
  }

  /**
   * Looks whether the writer of a file lives.
   *
   * @param counters the file
   * @return what can be said
   */
  public static Life look(Path counters) {
    if (isOfThisProcess(counters)) {
      // To look at its lock would end it: the kernel drops a process's locks on a file as soon as
      // the process closes that file once.
      return Life.RUNNING;
    }
    Path lock = lockOf(counters);
    if (!Files.isRegularFile(lock, NOFOLLOW_LINKS)) {
      return Life.UNKNOWN;
    }
    try (FileChannel channel =
            FileChannel.open(lock, Set.of(StandardOpenOption.READ, NOFOLLOW_LINKS));
        FileLock held = channel.tryLock(0, Long.MAX_VALUE, true)) {
      return held == null ? Life.RUNNING : Life.DEAD;
    } catch (OverlappingFileLockException another) {
      return Life.RUNNING;
    } catch (IOException | RuntimeException unknown) {
      return Life.UNKNOWN;
    }
  }

  /** Whether its header says so; one that cannot be read is none of this process. */
  private static boolean isOfThisProcess(Path counters) {
    try (CounterBytes bytes = CounterBytes.open(counters)) {
      return bytes.longAt(CounterLayout.PID_AT) == ProcessHandle.current().pid()
          && bytes.longAt(CounterLayout.STARTED_AT) == CounterFile.started()
          && bytes.longAt(CounterLayout.NAMESPACE_AT) == CounterFile.namespace();
    } catch (IOException none) {
      return false;
    }
  }

  /**
   * Removes the counters of a process that is proven dead.
   *
   * @param counters the file
   * @return whether it was removed; false if the process lives, or may
   * @throws IOException if it cannot be removed
   */
  public static boolean remove(Path counters) throws IOException {
    if (look(counters) != Life.DEAD) {
      return false;
    }
    Path lock = lockOf(counters);
    try (FileChannel channel =
            FileChannel.open(lock, Set.of(StandardOpenOption.WRITE, NOFOLLOW_LINKS));
        FileLock held = channel.tryLock()) {
      if (held == null) {
        return false;
      }
      Files.deleteIfExists(counters);
      Files.deleteIfExists(lock);
      return true;
    } catch (OverlappingFileLockException another) {
      return false;
    }
  }

  /**
   * The files of counters in a folder.
   *
   * @param folder where
   * @return their paths, by name; none if there is no such folder
   * @throws IOException if it cannot be read
   */
  public static List<Path> files(Path folder) throws IOException {
    List<Path> found = new ArrayList<>();
    if (!Files.isDirectory(folder)) {
      return found;
    }
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, "*" + CounterLayout.SUFFIX)) {
      for (Path each : all) {
        if (found.size() < MOST_FILES && Files.isRegularFile(each, NOFOLLOW_LINKS)) {
          found.add(each);
        }
      }
    } catch (java.nio.file.DirectoryIteratorException failed) {
      throw failed.getCause();
    }
    found.sort(Comparator.naturalOrder());
    return found;
  }

  /** Removes the oldest files of dead processes, so that about so many are left. */
  static void keep(Path folder, int most) throws IOException {
    List<Path> all = files(folder);
    if (all.size() <= most) {
      return;
    }
    // Asked for once: those of processes that live go on changing.
    Map<Path, FileTime> changed = new HashMap<>();
    all.forEach(file -> changed.put(file, changed(file)));
    all.sort(Comparator.comparing(changed::get));
    int left = all.size();
    for (int i = 0; i < all.size() && left > most; i++) {
      try {
        left -= remove(all.get(i)) ? 1 : 0;
      } catch (IOException kept) {
        // Somebody else removes it now, or it stays for jofi stat --clean, which says why.
      }
    }
  }

  private static FileTime changed(Path file) {
    try {
      return Files.getLastModifiedTime(file, NOFOLLOW_LINKS);
    } catch (IOException gone) {
      return FileTime.fromMillis(0);
    }
  }
}
