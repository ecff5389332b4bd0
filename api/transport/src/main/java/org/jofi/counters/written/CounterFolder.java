package org.jofi.counters.written;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The folder in which processes of a user have their counters. Nobody else can read it, and one
 * that somebody else made is not used.
 */
public final class CounterFolder {
  /** The system property that names another folder, or says {@code off}. */
  public static final String PROPERTY = "jofi.counters";

  /** The environment variable that says the same. */
  public static final String VARIABLE = "JOFI_COUNTERS";

  /** No file is written. */
  public static final String OFF = "off";

  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");

  private CounterFolder() {}

  /** {@return what the property or the variable says; empty if neither does} */
  static String chosen() {
    String property = System.getProperty(PROPERTY, "").strip();
    String variable = System.getenv(VARIABLE);
    return property.isEmpty() && variable != null ? variable.strip() : property;
  }

  /**
   * Where counters are.
   *
   * @return the folder, which need not exist; empty if none are written
   * @throws IOException if what was chosen is no absolute path
   */
  public static Optional<Path> path() throws IOException {
    String chosen = chosen();
    if (chosen.equals(OFF)) {
      return Optional.empty();
    }
    if (chosen.isEmpty()) {
      Path parent =
          Files.isWritable(SHARED_MEMORY)
              ? SHARED_MEMORY
              : Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
      return Optional.of(parent.resolve("jofi-" + user()));
    }
    if (!chosen.startsWith("/") || chosen.indexOf('\0') >= 0) {
      throw new IOException(
          "%s='%s' (-D%s): must be the absolute path of a folder, or %s"
              .formatted(VARIABLE, chosen, PROPERTY, OFF));
    }
    return Optional.of(Path.of(chosen).normalize());
  }

  private static String user() throws IOException {
    String name = System.getProperty("user.name", "");
    return PLAIN.matcher(name).matches() ? name : "uid-" + uid();
  }

  /** {@return the user id of this process} */
  static int uid() throws IOException {
    return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
  }

  /**
   * Makes the folder, or checks the one that is there.
   *
   * @param folder absolute
   * @throws IOException if it cannot be made, or is a link, somebody else's or open to others
   */
  static void make(Path folder) throws IOException {
    try {
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    } catch (FileAlreadyExistsException there) {
      // Looked at below, as one that was made just now.
    }
    if (!Files.isDirectory(folder, NOFOLLOW_LINKS)) {
      throw new IOException(folder + " is no folder, but a link or a file: remove it");
    }
    int owner = (Integer) Files.getAttribute(folder, "unix:uid", NOFOLLOW_LINKS);
    if (owner != uid()) {
      throw new IOException(
          "%s belongs to user %d, and this process runs as %d: have it removed, or choose another folder with %s"
              .formatted(folder, owner, uid(), VARIABLE));
    }
    Set<PosixFilePermission> open =
        Files.readAttributes(folder, PosixFileAttributes.class, NOFOLLOW_LINKS).permissions();
    if (!OWNER_ONLY.containsAll(open)) {
      throw new IOException(
          "%s is open to others (%s): chmod 700 %s"
              .formatted(folder, PosixFilePermissions.toString(open), folder));
    }
  }
}
