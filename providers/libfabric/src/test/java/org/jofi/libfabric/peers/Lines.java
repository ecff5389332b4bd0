package org.jofi.libfabric.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/** Lines to and from the other process, relayed by the one that started both. */
final class Lines {
  /** Marks, on standard output, what is for the other side. */
  static final String MARK = "@@ ";

  private final LinkedBlockingQueue<String> received = new LinkedBlockingQueue<>();

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
                System.out.println("the starter is gone: " + gone.getMessage());
              }
              // Nobody waits for this process any more, and what it waits for does not come.
              Runtime.getRuntime().halt(1);
            });
  }

  void send(String line) {
    System.out.println(MARK + line);
    System.out.flush();
  }

  /** Waits for a line, while nothing is open that would have to be polled. */
  String take() throws InterruptedException {
    return received.take();
  }

  @Nullable String poll() {
    return received.poll();
  }
}
