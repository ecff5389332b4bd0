package org.jofi.ranks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks and their server prove to each other that they know the secret; neither sends it. */
@Timeout(60)
class SharedSecretTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String TEXT = "a secret that is easily found";
  private static final Hello HELLO = new Hello(2, Map.of("name", "value"));

  private static RankServer serve(String secret) {
    return RankServer.open(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        2,
        JoinOptions.defaults().withSecret(secret),
        PATIENCE,
        RankServer.Watch.CONNECTIONS);
  }

  private static Ranks join(String secret, int port) {
    return Ranks.join(
        Placement.of(0, 2, "127.0.0.1", port),
        JoinOptions.defaults().withSecret(secret).withServing(false),
        PATIENCE);
  }

  /** A connection that speaks by hand. */
  private record Wire(Socket socket, DataInputStream in, DataOutputStream out)
      implements AutoCloseable {
    static Wire to(int port) throws IOException {
      return of(new Socket(InetAddress.getLoopbackAddress(), port));
    }

    static Wire of(Socket socket) throws IOException {
      socket.setSoTimeout(30_000);
      return new Wire(
          socket,
          new DataInputStream(socket.getInputStream()),
          new DataOutputStream(socket.getOutputStream()));
    }

    Frame read() throws IOException {
      return Frame.read(in);
    }

    void write(Frame.Type type, int rank, byte[] payload) throws IOException {
      new Frame(type, rank, payload).write(out);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @Test
  void eitherProofHoldsOnceAndForOneSecret() {
    SharedSecret secret = new SharedSecret(TEXT);
    byte[] challenge = SharedSecret.random();
    byte[] mine = secret.introduction(challenge, 1, HELLO);
    assertEquals(HELLO, SharedSecret.hello(mine));
    assertTrue(secret.proves(challenge, 1, mine));
    assertFalse(secret.proves(SharedSecret.random(), 1, mine), "another challenge");
    assertFalse(secret.proves(challenge, 0, mine), "another rank");
    for (String other : List.of("", "another")) {
      assertFalse(new SharedSecret(other).proves(challenge, 1, mine));
    }
    byte[] welcome = secret.welcome(challenge, 1, mine);
    assertTrue(secret.isWelcome(challenge, 1, mine, welcome));
    assertFalse(new SharedSecret("another").isWelcome(challenge, 1, mine, welcome));
    // What a rank sent is no proof of the server.
    byte[] reflected = Arrays.copyOfRange(mine, SharedSecret.BYTES, 2 * SharedSecret.BYTES);
    assertFalse(secret.isWelcome(challenge, 1, mine, reflected));
    for (int at = 0; at < mine.length; at++) {
      byte[] changed = mine.clone();
      changed[at] ^= 1;
      assertFalse(secret.proves(challenge, 1, changed), "byte " + at);
      assertFalse(secret.isWelcome(challenge, 1, changed, welcome), "byte " + at);
    }
    for (int length : List.of(0, 31, 63)) {
      assertFalse(secret.proves(challenge, 1, new byte[length]));
      assertThrows(IllegalArgumentException.class, () -> SharedSecret.hello(new byte[length]));
    }
    assertEquals(
        "with a secret, parameters {}, the first rank serves",
        JoinOptions.defaults().withSecret(TEXT).toString());
  }

  /** Another implementation of the same words, so that two releases of one version agree. */
  @Test
  void theProofsAreWhatTheyAreSaidToBe() throws Exception {
    SharedSecret secret = new SharedSecret("");
    byte[] challenge = new byte[32];
    byte[] introduction = new byte[64 + 8];
    byte[] expected =
        mac(
            "jofi bootstrap, server".getBytes(StandardCharsets.UTF_8),
            challenge,
            new byte[] {0, 0, 0, 3},
            introduction);
    assertArrayEquals(expected, secret.welcome(challenge, 3, introduction));
  }

  private static byte[] mac(byte[]... parts) throws Exception {
    // HMAC by hand: H(K xor opad, H(K xor ipad, text)), RFC 2104.
    byte[] key = new byte[64];
    byte[] hashed = sha256(new byte[0]);
    System.arraycopy(hashed, 0, key, 0, hashed.length);
    byte[] inner = new byte[64];
    byte[] outer = new byte[64];
    for (int i = 0; i < 64; i++) {
      inner[i] = (byte) (key[i] ^ 0x36);
      outer[i] = (byte) (key[i] ^ 0x5c);
    }
    List<byte[]> text = new ArrayList<>(List.of(inner));
    text.addAll(List.of(parts));
    return sha256(outer, sha256(text.toArray(new byte[0][])));
  }

  private static byte[] sha256(byte[]... parts) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    for (byte[] part : parts) {
      digest.update(part);
    }
    return digest.digest();
  }

  @ParameterizedTest
  @CsvSource({
    "s, guess, does not know the secret",
    "s, '', does not know the secret",
    "'', s, 'it has a secret, and the server has none'"
  })
  void whoDoesNotKnowItIsRefused(String servers, String ranks, String words) {
    try (RankServer server = serve(servers)) {
      RanksException refusal = assertThrows(RanksException.class, () -> join(ranks, server.port()));
      assertFalse(refusal instanceof RankLostException);
      assertTrue(String.valueOf(refusal.getMessage()).contains(words), refusal.getMessage());
      assertEquals(1, server.refused());
    }
  }

  @Test
  void whatWasOverheardIsOfNoUse() throws Exception {
    SharedSecret secret = new SharedSecret(TEXT);
    try (RankServer server = serve(TEXT)) {
      byte[] heard;
      try (Wire rank = Wire.to(server.port())) {
        heard = secret.introduction(rank.read().payload(), 1, HELLO);
        // It does not come to send it; somebody else does, who heard it.
      }
      try (Wire thief = Wire.to(server.port())) {
        assertEquals(Frame.Type.CHALLENGE, thief.read().type());
        thief.write(Frame.Type.HELLO, 1, heard);
        Frame answer = thief.read();
        assertEquals(Frame.Type.FAILED, answer.type());
        assertTrue(answer.words().contains("does not know the secret"), answer.words());
      }
    }
  }

  @Test
  void nothingSaysTheSecretAndARankTellsNothingToAStranger() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      AtomicReference<@Nullable Object> refusal = new AtomicReference<>();
      Thread rank =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      refusal.set(join(TEXT, socket.getLocalPort()));
                    } catch (RanksException e) {
                      refusal.set(e);
                    }
                  });
      try (Wire impostor = Wire.of(socket.accept())) {
        byte[] challenge = SharedSecret.random();
        impostor.write(Frame.Type.CHALLENGE, 0, challenge);
        Frame introduction = impostor.read();
        String all = new String(introduction.payload(), StandardCharsets.ISO_8859_1);
        assertFalse(all.contains(TEXT));
        byte[] guess = new SharedSecret("guess").welcome(challenge, 0, introduction.payload());
        impostor.write(Frame.Type.WELCOME, 0, guess);
        // Not even what it would tell in its first gathering.
        assertEquals(-1, impostor.in().read());
      }
      rank.join();
      assertTrue(
          String.valueOf(refusal.get()).contains("does not know the secret"),
          () -> String.valueOf(refusal.get()));
    }
  }

  @Test
  void aServerThatIsNoneIsNamed() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Callable<Object> joining = () -> join("", socket.getLocalPort());
      AtomicReference<@Nullable Object> refusal = new AtomicReference<>();
      Thread rank =
          Thread.ofVirtual()
              .start(() -> refusal.set(assertThrows(RanksException.class, joining::call)));
      try (Wire other = Wire.of(socket.accept())) {
        other.write(Frame.Type.DONE, 0, new byte[0]);
        rank.join();
      }
      assertTrue(String.valueOf(refusal.get()).contains("does not speak as a server of ranks"));
    }
  }

  /** Of another release: it is told so, in words that name both versions. */
  @Test
  void anotherVersionIsRefusedInWords() throws Exception {
    try (RankServer server = serve("");
        Wire old = Wire.to(server.port())) {
      old.out().write(new byte[] {'j', 'o', 'f', 'b', 1, 0, 0, 0, 0, 0, 0, 0});
      assertEquals(Frame.Type.CHALLENGE, old.read().type());
      Frame answer = old.read();
      assertEquals(Frame.Type.FAILED, answer.type());
      assertEquals(
          "bootstrap version 1, this side reads 2: run one release on all ranks", answer.words());
      assertEquals(1, server.refused());
    }
    // The other way round: a rank that meets a server of another release.
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      AtomicReference<@Nullable Throwable> refusal = new AtomicReference<>();
      Thread rank =
          Thread.ofVirtual()
              .start(
                  () ->
                      refusal.set(
                          assertThrows(
                              RanksException.class, () -> join("", socket.getLocalPort()))));
      try (Wire server = Wire.of(socket.accept())) {
        server.out().write(new byte[] {'j', 'o', 'f', 'b', 3, 8, 0, 0, 0, 0, 0, 0});
        rank.join();
      }
      assertTrue(
          String.valueOf(refusal.get()).contains("bootstrap version 3, this side reads 2"),
          () -> String.valueOf(refusal.get()));
    }
  }
}
