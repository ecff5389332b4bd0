package org.jofi.collectives;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What a process may share memory with: processes of equal hosts that are known. Immutable; any
 * thread.
 *
 * @param name tells hosts apart, up to 1,024 characters; empty if it is not known, which is equal
 *     to no other
 */
public record Host(String name) {
  private static final int LONGEST = 1024;

  /** Checks the name. */
  public Host {
    Objects.requireNonNull(name);
    if (name.length() > LONGEST) {
      throw new IllegalArgumentException(
          "a host's name has up to %d characters, not %d".formatted(LONGEST, name.length()));
    }
  }

  /**
   * {@return the host of this process, as its kernel tells it} Two processes have the same one if
   * all of these are the same: the kernel's name and what it drew when it started; the namespaces
   * of processes, users, IPC and the network; the file system at {@code /dev/shm}; and the user. So
   * two containers that share not all of that are two hosts, and so are two network namespaces of a
   * machine. If any of it cannot be read, the host is not known.
   */
  public static Host here() {
    return of(Path.of("/"));
  }

  /** As a file system says that holds a kernel's files. */
  static Host of(Path root) {
    List<String> facts = new ArrayList<>();
    try {
      facts.add(text(root.resolve("proc/sys/kernel/hostname")));
      facts.add(text(root.resolve("proc/sys/kernel/random/boot_id")));
      for (String namespace : List.of("pid", "user", "ipc", "net")) {
        Path link = root.resolve("proc/self/ns").resolve(namespace);
        facts.add(Files.readSymbolicLink(link).toString());
      }
      Path memory = root.resolve("dev/shm");
      facts.add("shm:" + Files.getAttribute(memory, "unix:dev"));
      facts.add("uid:" + Files.getAttribute(root.resolve("proc/self"), "unix:uid"));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
      return new Host("");
    }
    String name = String.join(" ", facts);
    return new Host(facts.contains("") || name.length() > LONGEST ? "" : name);
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8).strip();
  }

  /** {@return whether its processes may share memory} */
  public boolean isKnown() {
    return !name.isEmpty();
  }
}
