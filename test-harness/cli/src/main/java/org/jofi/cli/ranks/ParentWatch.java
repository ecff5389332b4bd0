package org.jofi.cli.ranks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Ends a rank when the process that started it is gone. When that process dies, in any way, the
 * pipe to this rank's standard input closes.
 */
final class ParentWatch {
  /** The exit code that a shell reports for a process that lost its terminal: 128 plus SIGHUP. */
  static final int ORPHANED = 129;

  private ParentWatch() {}

  /**
   * Watches with a thread of its own, until the process ends.
   *
   * @param said takes each line that the parent says; most say nothing
   */
  static void start(InputStream fromParent, Consumer<String> said) {
    Thread.ofPlatform()
        .daemon()
        .name("parent-watch")
        .start(
            () -> {
              awaitEnd(fromParent, said);
              SharedMemory.clear(ProcessHandle.current().pid());
              // Do not run shutdown hooks: they might wait for something that hangs.
              Runtime.getRuntime().halt(ORPHANED);
            });
  }

  private static void awaitEnd(InputStream in, Consumer<String> said) {
    BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    try {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        said.accept(line);
      }
    } catch (IOException e) {
      // The same as the end of the input.
      return;
    }
  }
}
