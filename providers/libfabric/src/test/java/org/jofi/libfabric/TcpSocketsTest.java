package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

/** Bytes that the other kernel confirmed, though nobody read them. */
class TcpSocketsTest {
  private static final int BYTES = 10_000;
  private static final InetSocketAddress ANY_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  @Test
  void bytesOfAConnectionAreCountedAtBothEnds() throws Exception {
    try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.INET);
        ServerSocketChannel idle = ServerSocketChannel.open(StandardProtocolFamily.INET);
        SocketChannel connected = SocketChannel.open(StandardProtocolFamily.INET)) {
      listener.bind(ANY_PORT);
      idle.bind(ANY_PORT);
      String server = text(listener);
      String client = text(idle);
      connected.connect(listener.getLocalAddress());
      try (SocketChannel accepted = listener.accept();
          TcpSockets sockets = new TcpSockets()) {
        // This process has both ends: one is connected to the server, the other is the server's.
        long before = sockets.movedBytes(client, server);
        connected.write(ByteBuffer.allocate(BYTES));
        long after = sockets.movedBytes(client, server);
        assertEquals(BYTES, after - before, "confirmed to the client");
        accepted.write(ByteBuffer.allocate(BYTES));
        assertEquals(2 * BYTES, sockets.movedBytes(client, server) - before);
        long ofServer = sockets.movedBytes(server, client);
        assertTrue(ofServer >= 2 * BYTES, "received and confirmed: " + ofServer);
        assertEquals(0, sockets.movedBytes(client, "127.0.0.1:1"), "nobody is connected there");
      }
    }
  }

  private static String text(ServerSocketChannel listener) throws Exception {
    return "127.0.0.1:" + ((InetSocketAddress) listener.getLocalAddress()).getPort();
  }
}
