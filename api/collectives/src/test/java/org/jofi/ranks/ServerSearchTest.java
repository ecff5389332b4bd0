package org.jofi.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ServerSearchTest {
  private static InetAddress at(String address) throws UnknownHostException {
    return InetAddress.getByName(address);
  }

  private static long in(long millis) {
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  @Test
  void triesEveryAddressOfAName() throws Exception {
    InetAddress listening = at("127.0.0.3");
    try (ServerSocket server = new ServerSocket(0, 1, listening)) {
      ServerSearch search =
          new ServerSearch(
              host -> List.of(at("127.0.0.2"), listening), "many", server.getLocalPort());
      try (Socket found = search.find(in(30_000))) {
        assertEquals(listening, found.getInetAddress());
      }
    }
  }

  @Test
  void saysWhatCameOfEach() throws Exception {
    int port;
    try (ServerSocket server = new ServerSocket(0, 1, at("127.0.0.2"))) {
      port = server.getLocalPort();
    }
    ServerSearch search =
        new ServerSearch(host -> List.of(at("127.0.0.2"), at("127.0.0.3")), "many", port);
    String words = assertThrows(IOException.class, () -> search.find(in(300))).getMessage();
    assertTrue(words.matches("127\\.0\\.0\\.2: .*refused.*, 127\\.0\\.0\\.3: .*refused.*"), words);
  }

  @Test
  void aNameMayBecomeKnownLater() throws Exception {
    InetAddress listening = at("127.0.0.1");
    try (ServerSocket server = new ServerSocket(0, 1, listening)) {
      int[] asked = {0};
      ServerSearch search =
          new ServerSearch(
              host -> {
                if (asked[0]++ < 2) {
                  throw new UnknownHostException(host);
                }
                return List.of(listening);
              },
              "late",
              server.getLocalPort());
      search.find(in(30_000)).close();
      assertEquals(3, asked[0]);
    }
    ServerSearch never =
        new ServerSearch(
            host -> {
              throw new UnknownHostException(host);
            },
            "never",
            1);
    assertThrows(UnknownHostException.class, () -> never.find(in(1)));
  }
}
