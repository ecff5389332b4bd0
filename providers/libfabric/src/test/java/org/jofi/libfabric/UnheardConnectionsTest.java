package org.jofi.libfabric;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whoever connects to an endpoint and says nothing harms nobody when that endpoint closes. Without
 * what {@link UnheardConnections} does, this process crashes here.
 */
@Timeout(60)
class UnheardConnectionsTest {
  private static final int STRANGERS = 8;
  private static final int POLLS = 200;

  static Stream<String> providers() {
    return Stream.of("net", "tcp", "tcp;ofi_rxm", "net;ofi_rxm")
        .filter(
            provider ->
                !FabricProvider.named("libfabric")
                    .discover(FabricHints.any().withProvider(provider))
                    .isEmpty());
  }

  @ParameterizedTest
  @MethodSource("providers")
  void theirEndpointClosesAndTheDomainGoesOn(String provider) throws IOException {
    try (Loopback loopback = new Loopback(provider)) {
      Station other = new Station("other", loopback.domain);
      List<Socket> strangers = new ArrayList<>();
      try (Station left = new Station("left", loopback.domain)) {
        for (int i = 0; i < STRANGERS; i++) {
          strangers.add(connected(left.endpoint.address()));
          left.poll();
          other.poll();
        }
      }
      // Memory that was freed is used for something else.
      List<Station> more = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        more.add(new Station("station " + i, loopback.domain));
      }
      for (Socket stranger : strangers) {
        stranger.close();
        other.poll();
      }
      for (int i = 0; i < POLLS; i++) {
        other.poll();
        Station.rest();
      }
      more.forEach(Station::close);
      other.close();
    }
  }

  /** From a sockaddr_in. */
  private static Socket connected(byte[] address) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(address);
    int port = Short.toUnsignedInt(bytes.getShort(2));
    byte[] host = new byte[4];
    bytes.get(4, host);
    Socket socket = new Socket();
    socket.connect(new InetSocketAddress(InetAddress.getByAddress(host), port), 5000);
    return socket;
  }
}
