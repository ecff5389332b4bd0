package org.jofi.cli;

import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Scanner;
import java.util.concurrent.atomic.AtomicInteger;

/** TCP ports for processes that are told where to meet before one of them listens. */
final class Ports {
  private static final Path EPHEMERAL = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
  private static final int FIRST = 10_000;
  private static final int EACH = 16;
  private static final AtomicInteger GIVEN = new AtomicInteger();

  private Ports() {}

  /**
   * A port at which nobody listens. The kernel gives it to nobody who asks for any, and this class
   * not to another process of tests at the same time.
   */
  static int free() throws IOException {
    int end = firstEphemeral();
    long first = ProcessHandle.current().pid() * EACH;
    for (int tries = 0; tries < end - FIRST; tries++) {
      int port = FIRST + (int) ((first + GIVEN.getAndIncrement()) % (end - FIRST));
      try (ServerSocket free = new ServerSocket(port)) {
        return free.getLocalPort();
      } catch (BindException taken) {
        // Another one, then.
      }
    }
    throw new IOException("no port below %d is free".formatted(end));
  }

  private static int firstEphemeral() throws IOException {
    // All at once: of a second read the kernel says that there is no more.
    try (Scanner both = new Scanner(Files.newBufferedReader(EPHEMERAL))) {
      return both.nextInt();
    }
  }
}
