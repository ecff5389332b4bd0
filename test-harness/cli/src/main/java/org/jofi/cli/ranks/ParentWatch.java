package org.jofi.cli.ranks;

import java.io.IOException;
import java.io.InputStream;

/**
 * Ends a rank when the process that started it is gone. When that process dies, in any way, the
 * pipe to this rank's standard input closes.
 */
final class ParentWatch {
  /** The exit code that a shell reports for a process that lost its terminal: 128 plus SIGHUP. */
  static final int ORPHANED = 129;

  private ParentWatch() {}

  /** Watches with a thread of its own, until the process ends. */
  static void start(InputStream fromParent) {
    Thread.ofPlatform()
        .daemon()
        .name("parent-watch")
        .start(
            () -> {
              awaitEnd(fromParent);
              SharedMemory.clear(ProcessHandle.current().pid());
              // Do not run shutdown hooks: they might wait for something that hangs.
              Runtime.getRuntime().halt(ORPHANED);
            });
  }

  private static void awaitEnd(InputStream in) {
    byte[] unread = new byte[64];
    try {
      while (in.read(unread) >= 0) {
        // Ignore the input; the parent sends nothing.
      }
    } catch (IOException e) {
      // The same as the end of the input.
      return;
    }
  }
}
