package org.jofi.libfabric;

import java.io.IOException;
import java.lang.foreign.Arena;
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
    closesAndTheDomainGoesOn(provider, new byte[0]);
  }

  /** The kernel has heard them, and the provider has not. */
  @ParameterizedTest
  @MethodSource("providers")
  void theySayAWordAndTheirEndpointClosesBeforeItIsPolled(String provider) throws IOException {
    closesAndTheDomainGoesOn(provider, new byte[] {1, 2, 3, 4});
  }

  private static void closesAndTheDomainGoesOn(String provider, byte[] lastWord)
      throws IOException {
    try (Loopback loopback = new Loopback(provider);
        Arena arena = Arena.ofConfined()) {
      Station other = new Station("other", loopback.domain);
      List<Socket> strangers = new ArrayList<>();
      try (Station left = new Station("left", loopback.domain)) {
        for (int i = 0; i < STRANGERS; i++) {
          strangers.add(connected(left.endpoint.address()));
          left.poll();
          other.poll();
        }
        for (Socket stranger : strangers) {
          stranger.getOutputStream().write(lastWord);
        }
        Station.rest();
      }
      useFreedMemory(arena);
      for (Socket stranger : strangers) {
        stranger.close();
        other.poll();
      }
      for (int i = 0; i < POLLS; i++) {
        other.poll();
        Station.rest();
      }
      other.close();
    }
  }

  /** Memory that was freed is used for something else, which is no address. */
  private static void useFreedMemory(Arena arena) {
    for (long bytes = 16; bytes <= 4096; bytes += 16) {
      for (int i = 0; i < STRANGERS; i++) {
        arena.allocate(bytes).fill((byte) 0x5a);
      }
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
