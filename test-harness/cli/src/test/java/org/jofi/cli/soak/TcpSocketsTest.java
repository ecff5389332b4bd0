package org.jofi.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.junit.jupiter.api.Test;

class TcpSocketsTest {
  private static final InetAddress HERE = Inet4Address.ofLiteral("127.0.0.1");

  @Test
  void aSocketIsListedAsLongAsItIsOpen() throws Exception {
    String listening;
    try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.INET)) {
      listener.bind(new InetSocketAddress(HERE, 0));
      int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
      listening = "LISTEN 127.0.0.1:%d 0.0.0.0:0".formatted(port);
      assertTrue(Vitals.tcpSockets().contains(listening), Vitals.tcpSockets()::toString);
      try (SocketChannel connected = SocketChannel.open(StandardProtocolFamily.INET)) {
        connected.connect(new InetSocketAddress(HERE, port));
        int own = ((InetSocketAddress) connected.getLocalAddress()).getPort();
        String established = "ESTABLISHED 127.0.0.1:%d 127.0.0.1:%d".formatted(own, port);
        List<String> all = Vitals.tcpSockets();
        assertTrue(all.contains(established), all::toString);
      }
    }
    assertFalse(Vitals.tcpSockets().contains(listening));
  }

  @Test
  void anAddressIsReadAsTheKernelWritesIt() {
    assertEquals("10.77.0.1:47601", TcpSockets.address("01004D0A:B9F1"));
  }
}
