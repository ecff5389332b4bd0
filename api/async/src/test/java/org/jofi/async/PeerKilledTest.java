package org.jofi.async;

import static org.jofi.async.Links.PATIENCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jofi.async.Links.Link;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The requests of a peer that was killed end, and those of others go on. */
@Timeout(240)
class PeerKilledTest {
  static final int TAG = 4;
  private static final Duration SILENCE = Duration.ofSeconds(4);

  @Test
  void itsRequestsFailAndOthersGoOn() throws Exception {
    try (Links links = Links.over("net", SILENCE);
        ListenComm listener = links.device.listen()) {
      CompletableFuture<AsyncReceiver> accepted = links.driver.accept(listener);
      Process peer =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "--enable-native-access=ALL-UNNAMED",
                  "-cp",
                  System.getProperty("java.class.path"),
                  PeerMain.class.getName(),
                  "net",
                  HexFormat.of().formatHex(listener.handle().encode()))
              .inheritIO()
              .start();
      try {
        AsyncReceiver in = Links.soon(accepted);
        MemorySegment memory = links.memory(100, 0);
        assertEquals(100, in.receive(memory, TAG).await(PATIENCE));
        List<AsyncRequest> lost = List.of(in.receive(memory, TAG), in.receive(memory, TAG + 1));
        Link other = links.connect();
        AsyncRequest receive = other.in().receive(memory, TAG);

        peer.destroyForcibly().waitFor();

        for (AsyncRequest request : lost) {
          TransportException failure =
              assertThrows(TransportException.class, () -> request.await(PATIENCE));
          assertEquals(FailureCause.PEER_LOST, failure.failure().cause());
        }
        assertEquals(100, other.out().send(memory, TAG).await(PATIENCE));
        assertEquals(100, receive.await(PATIENCE));
        Links.soon(in.closeAsync());
      } finally {
        peer.destroyForcibly();
      }
    }
  }
}
