package org.jofi.benchmarks;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;

/** By which the two sides of a benchmark tell each other where they are. */
final class LoopbackSockets {
  private static final int MOST_CONNECTS = 1000;
  private static final long RETRY_NANOS = 10_000_000;

  private LoopbackSockets() {}

  static Socket open(boolean server, int port) throws IOException {
    return server ? accept(port) : connect(port);
  }

  private static Socket accept(int port) throws IOException {
    try (ServerSocket listener = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return listener.accept();
    }
  }

  private static Socket connect(int port) throws IOException {
    for (int i = 0; ; i++) {
      Socket socket = new Socket();
      try {
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return socket;
      } catch (ConnectException notYet) {
        socket.close();
        if (i == MOST_CONNECTS) {
          throw notYet;
        }
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
  }
}
