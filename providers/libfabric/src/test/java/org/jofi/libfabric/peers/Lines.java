package org.jofi.libfabric.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Lines to and from the other process, relayed by the one that started both. */
final class Lines {
  /** Marks, on standard output, what is for the other side. */
  static final String MARK = "@@ ";

  private final ConcurrentLinkedQueue<String> received = new ConcurrentLinkedQueue<>();

  Lines() {
    Thread.ofPlatform()
        .daemon()
        .name("lines")
        .start(
            () -> {
              try (BufferedReader in =
                  new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                String line;
                while ((line = in.readLine()) != null) {
                  received.add(line);
                }
              } catch (IOException gone) {
                // The starter is gone, and ends this process.
              }
            });
  }

  void send(String line) {
    System.out.println(MARK + line);
    System.out.flush();
  }

  @Nullable String poll() {
    return received.poll();
  }
}
