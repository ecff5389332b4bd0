package org.jofi.doctor.machine;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The files of a machine below one root: the live machine's, or a copy of another one's /sys and
 * /proc. Nothing is ever written.
 *
 * <p>The files are not trusted: reads and listings have limits, only regular files are opened (a
 * pipe would block), and a link that points outside of the root is not followed. Any thread.
 */
public final class MachineFiles {
  /** Largest file that is read, in bytes; the kernel's own are far smaller. */
  static final int LARGEST_FILE = 1 << 20;

  /** Largest number of entries of a folder that are listed. */
  static final int MOST_ENTRIES = 4096;

  private final Path root;

  /**
   * @param root the folder that stands for {@code /}
   * @throws IOException if there is no such folder, or it cannot be read
   */
  public MachineFiles(Path root) throws IOException {
    this.root = root.toRealPath();
    if (!Files.isDirectory(this.root)) {
      throw new IOException(root + ": no folder");
    }
  }

  /** Those of the machine that the program runs on. */
  public static MachineFiles here() {
    try {
      return new MachineFiles(Path.of("/"));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /** Whether this is the machine that the program runs on. */
  public boolean live() {
    return root.equals(root.getRoot());
  }

  /** The folder that stands for {@code /}. */
  public Path root() {
    return root;
  }

  /**
   * Reads a file.
   *
   * @param path its path on the machine, such as {@code /proc/modules}
   */
  public Reading read(String path) {
    return read(path, LARGEST_FILE);
  }

  Reading read(String path, int most) {
    try {
      Path file = real(path);
      if (!Files.isRegularFile(file)) {
        return Reading.unreadable(path, "is no file");
      }
      try (InputStream in = Files.newInputStream(file)) {
        byte[] bytes = in.readNBytes(most + 1);
        return bytes.length > most
            ? Reading.unreadable(path, "is larger than " + most + " bytes")
            : Reading.of(path, bytes);
      }
    } catch (NoSuchFileException absent) {
      return Reading.absent(path);
    } catch (AccessDeniedException denied) {
      return Reading.unreadable(path, "may not be read");
    } catch (IOException failure) {
      return Reading.unreadable(path, "cannot be read: " + reason(failure));
    }
  }

  /** The names in a folder, sorted; empty if it is absent or unreadable. */
  public List<String> list(String path) {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(real(path))) {
      for (Path entry : entries) {
        if (names.size() == MOST_ENTRIES) {
          break;
        }
        names.add(String.valueOf(entry.getFileName()));
      }
    } catch (IOException | DirectoryIteratorException unreadable) {
      return List.of();
    }
    Collections.sort(names);
    return names;
  }

  /** Whether the path exists. */
  public boolean exists(String path) {
    return resolve(path).isPresent();
  }

  /** Where a path ends when all links are followed; empty if nowhere below the root. */
  public Optional<Path> resolve(String path) {
    try {
      return Optional.of(Path.of("/").resolve(root.relativize(real(path))));
    } catch (IOException unreachable) {
      return Optional.empty();
    }
  }

  /**
   * The last name in the target of a link, which need not exist; empty if the path is not a link.
   */
  String linkName(String path) {
    int slash = path.lastIndexOf('/');
    try {
      Path target =
          Files.readSymbolicLink(real(path.substring(0, slash)).resolve(path.substring(slash + 1)));
      return Reading.printable(String.valueOf(target.getFileName()));
    } catch (IOException | UnsupportedOperationException noLink) {
      return "";
    }
  }

  private Path real(String path) throws IOException {
    Path real = root.resolve(path.substring(1)).toRealPath();
    if (!real.startsWith(root)) {
      throw new IOException("leads out of " + root);
    }
    return real;
  }

  private static String reason(IOException failure) {
    String message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : Reading.printable(message);
  }
}
