package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jofi.fabric.LinkTraffic;
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
        long before = sockets.traffic(client, server).movedBytes();
        connected.write(ByteBuffer.allocate(BYTES));
        long after = sockets.traffic(client, server).movedBytes();
        assertEquals(BYTES, after - before, "confirmed to the client");
        accepted.write(ByteBuffer.allocate(BYTES));
        assertEquals(2 * BYTES, sockets.traffic(client, server).movedBytes() - before);
        long ofServer = sockets.traffic(server, client).movedBytes();
        assertTrue(ofServer >= 2 * BYTES, "received and confirmed: " + ofServer);
        LinkTraffic traffic = sockets.traffic(client, server);
        assertTrue(traffic.packets() >= 1, "that carried them: " + traffic);
        assertEquals(0, traffic.repeated(), "memory loses nothing");
        assertEquals(
            0, sockets.traffic(client, "127.0.0.1:1").movedBytes(), "nobody is connected there");
      }
    }
  }

  private static String text(ServerSocketChannel listener) throws Exception {
    return "127.0.0.1:" + ((InetSocketAddress) listener.getLocalAddress()).getPort();
  }
}
