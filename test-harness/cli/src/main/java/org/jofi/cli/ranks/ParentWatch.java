package org.jofi.cli.ranks;

import java.io.IOException;
import java.io.InputStream;

/**
 * Ends a forked rank when who forked it is gone: its end of the pipe to standard input closes,
 * however it died.
 */
final class ParentWatch {
  /** As a shell reports a process that lost its terminal: 128 and SIGHUP. */
  static final int ORPHANED = 129;

  private ParentWatch() {}

  /** Watches, with a thread of its own, for as long as the process lives. */
  static void start(InputStream fromParent) {
    Thread.ofPlatform()
        .daemon()
        .name("parent-watch")
        .start(
            () -> {
              awaitEnd(fromParent);
              SharedMemory.clear(ProcessHandle.current().pid());
              // No hooks: what they would close may be what hangs.
              Runtime.getRuntime().halt(ORPHANED);
            });
  }

  private static void awaitEnd(InputStream in) {
    byte[] unread = new byte[64];
    try {
      while (in.read(unread) >= 0) {
        // Nobody has anything to say here.
      }
    } catch (IOException e) {
      // As good as its end.
      return;
    }
  }
}
