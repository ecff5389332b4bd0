package org.jofi.ranks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jofi.ranks.RankServer.Watch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BootstrapTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(400);
  private static final Map<String, String> ALIKE = Map.of("--bytes", "8");

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void endThreads() throws InterruptedException {
    threads.shutdownNow();
    assertTrue(threads.awaitTermination(20, TimeUnit.SECONDS), "a rank hangs");
  }

  private static RankServer serve(int size, String secret, Duration within, Watch watch) {
    return RankServer.open(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        size,
        joining(secret),
        within,
        watch);
  }

  /** What serves them is opened by the tests. */
  private static JoinOptions joining(String secret) {
    return JoinOptions.defaults().withSecret(secret).withServing(false);
  }

  private static Placement at(int rank, int size, RankServer server) {
    return new Placement(rank, size, "127.0.0.1", server.port(), "test");
  }

  private static Ranks join(int rank, int size, RankServer server) {
    return Ranks.join(at(rank, size, server), joining("s").withParameters(ALIKE), PATIENCE);
  }

  private List<Ranks> joinAll(int size, RankServer server) throws Exception {
    List<Future<Ranks>> joining = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      int each = rank;
      joining.add(threads.submit(() -> join(each, size, server)));
    }
    List<Ranks> ranks = new ArrayList<>();
    for (Future<Ranks> future : joining) {
      ranks.add(future.get());
    }
    return ranks;
  }

  /** A rank that the server has: of two that ask for the same place, one is told so. */
  private Future<Ranks> joined(int rank, int size, RankServer server) throws InterruptedException {
    CompletionService<Ranks> asking = new ExecutorCompletionService<>(threads);
    Future<Ranks> one = asking.submit(() -> join(rank, size, server));
    Future<Ranks> other = asking.submit(() -> join(rank, size, server));
    assertEquals(Future.State.FAILED, asking.take().state());
    boolean first = one.isDone();
    String message = failureOf(first ? one : other);
    assertTrue(message.contains("there is a rank " + rank + " already"), message);
    return first ? other : one;
  }

  private static String failureOf(Future<?> future) throws InterruptedException {
    Throwable cause = assertThrows(ExecutionException.class, future::get).getCause();
    assertTrue(cause instanceof RanksException, () -> "not " + cause);
    return String.valueOf(cause.getMessage());
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void allLearnWhatAllTell() throws Exception {
    try (RankServer server = serve(5, "s", PATIENCE, Watch.CONNECTIONS)) {
      List<Ranks> ranks = joinAll(5, server);
      for (int round = 0; round < 20; round++) {
        List<Future<List<byte[]>>> told = new ArrayList<>();
        for (Ranks rank : ranks) {
          byte[] mine = text("x".repeat(rank.rank()) + round);
          told.add(threads.submit(() -> rank.gather(mine, PATIENCE)));
        }
        for (Future<List<byte[]>> all : told) {
          for (int rank = 0; rank < 5; rank++) {
            assertArrayEquals(text("x".repeat(rank) + round), all.get().get(rank));
          }
        }
      }
      ranks.forEach(Ranks::close);
      for (Ranks rank : ranks) {
        rank.check();
      }
      assertEquals(0, server.refused());
    }
  }

  @Test
  void oneRankAloneWaitsForNobody() throws Exception {
    try (RankServer server = serve(1, "s", PATIENCE, Watch.CONNECTIONS);
        Ranks only = join(0, 1, server)) {
      assertEquals(1, only.gather(new byte[3], PATIENCE).size());
    }
  }

  @Test
  void anAbsentRankIsNamedInTime() throws Exception {
    long began = System.nanoTime();
    try (RankServer server = serve(3, "s", Duration.ofSeconds(2), Watch.CONNECTIONS)) {
      Future<Ranks> zero = threads.submit(() -> join(0, 3, server));
      Future<Ranks> two = threads.submit(() -> join(2, 3, server));
      for (Future<Ranks> rank : List.of(zero, two)) {
        Throwable failure = assertThrows(ExecutionException.class, rank::get).getCause();
        assertTrue(
            failure instanceof RankTimeoutException late && late.missing().equals(List.of(1)),
            failure::toString);
        String message = String.valueOf(failure.getMessage());
        assertTrue(message.contains("did not come") && message.endsWith(": 1"), message);
      }
    }
    assertTrue(System.nanoTime() - began < PATIENCE.toNanos(), "too late");
  }

  @Test
  void anAbsentServerIsNamedInTime() throws Exception {
    // Its port is nobody else's, and nobody listens there.
    try (Socket mute = new Socket()) {
      mute.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      int port = mute.getLocalPort();
      Placement nowhere = new Placement(1, 2, "127.0.0.1", port, "test");
      RanksException failure =
          assertThrows(RanksException.class, () -> Ranks.join(nowhere, joining(""), SHORT));
      assertTrue(failure.getMessage().contains("127.0.0.1:" + port), failure.getMessage());
    }
  }

  @Test
  void aServerThatSaysNothingIsNotWaitedForWithoutEnd() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Placement there = new Placement(0, 2, "127.0.0.1", silent.getLocalPort(), "test");
      assertThrows(RanksException.class, () -> Ranks.join(there, joining(""), SHORT));
    }
  }

  /** Often: whoever comes second is refused while its next frame is under way. */
  @RepeatedTest(300)
  void whatWasStartedOtherwiseIsSaid() throws Exception {
    try (RankServer server = serve(2, "s", PATIENCE, Watch.CONNECTIONS)) {
      Future<Ranks> zero = threads.submit(() -> join(0, 2, server));
      Future<Ranks> one =
          threads.submit(
              () ->
                  Ranks.join(
                      at(1, 2, server),
                      joining("s").withParameters(Map.of("--bytes", "16")),
                      PATIENCE));
      for (Future<Ranks> rank : List.of(zero, one)) {
        String message = failureOf(rank);
        assertTrue(
            message.contains("--bytes is ")
                && message.contains("8 at")
                && message.contains("16 at"),
            message);
      }
    }
  }

  @Test
  void otherSizesAndDoubleRanksAreRefused() throws Exception {
    try (RankServer server = serve(2, "s", PATIENCE, Watch.CONNECTIONS)) {
      Future<Ranks> zero = joined(0, 2, server);
      String message = failureOf(threads.submit(() -> join(1, 4, server)));
      assertTrue(message.contains("one of 4"), message);
      assertTrue(failureOf(zero).contains("one of 2"));
    }
    try (RankServer server = serve(2, "s", PATIENCE, Watch.CONNECTIONS)) {
      List<Ranks> both = joinAll(2, server);
      String message = failureOf(threads.submit(() -> join(1, 2, server)));
      assertTrue(message.contains("there is a rank 1 already"), message);
      Future<?> zero = threads.submit(() -> both.get(0).barrier(PATIENCE));
      both.get(1).barrier(PATIENCE);
      zero.get();
      both.forEach(Ranks::close);
      assertEquals(1, server.refused());
    }
  }

  @Test
  void strangersDisturbNobody() throws Exception {
    try (RankServer server = serve(2, "s", PATIENCE, Watch.CONNECTIONS)) {
      Random random = new Random(5);
      List<Socket> strangers = new ArrayList<>();
      int loud = 20;
      for (int i = 0; i < loud; i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        byte[] noise = new byte[100];
        random.nextBytes(noise);
        socket.getOutputStream().write(noise);
        strangers.add(socket);
      }
      // Begins as a rank does, and claims more than comes.
      Socket liar = new Socket(InetAddress.getLoopbackAddress(), server.port());
      DataOutputStream out = new DataOutputStream(liar.getOutputStream());
      out.writeInt('j' << 24 | 'o' << 16 | 'f' << 8 | 'b');
      out.writeInt(0x0200_0000);
      out.writeInt(Frame.MAX_UNPROVEN_BYTES);
      liar.shutdownOutput();
      strangers.add(liar);
      // Knows all but the secret.
      String message =
          failureOf(threads.submit(() -> Ranks.join(at(0, 2, server), joining("guess"), PATIENCE)));
      assertTrue(message.contains("secret"), message);
      // Says nothing at all.
      strangers.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));

      List<Ranks> both = joinAll(2, server);
      Future<?> zero = threads.submit(() -> both.get(0).barrier(PATIENCE));
      both.get(1).barrier(PATIENCE);
      zero.get();
      both.forEach(Ranks::close);
      // Each of them sees its connection end.
      for (Socket socket : strangers.subList(0, loud + 1)) {
        awaitEnd(socket);
      }
      assertEquals(loud + 2, server.refused());
      for (Socket socket : strangers) {
        socket.close();
      }
    }
  }

  private static void awaitEnd(Socket socket) throws IOException {
    socket.setSoTimeout(30_000);
    try {
      while (socket.getInputStream().read() >= 0) {
        // Until there is no more.
      }
    } catch (java.net.SocketException reset) {
      assertTrue(String.valueOf(reset.getMessage()).contains("reset"), reset::toString);
    }
  }

  @Test
  void aDeadRankIsNamedToTheOthers() throws Exception {
    try (RankServer server = serve(3, "s", PATIENCE, Watch.CONNECTIONS)) {
      Future<Ranks> zero = threads.submit(() -> join(0, 3, server));
      Future<Ranks> two = threads.submit(() -> join(2, 3, server));
      Socket one = new Socket(InetAddress.getLoopbackAddress(), server.port());
      DataOutputStream out = new DataOutputStream(one.getOutputStream());
      DataInputStream in = new DataInputStream(one.getInputStream());
      byte[] challenge = Frame.read(in).payload();
      SharedSecret secret = new SharedSecret("s");
      byte[] mine = secret.introduction(challenge, 1, new Hello(3, ALIKE));
      new Frame(Frame.Type.HELLO, 1, mine).write(out);
      Frame.of(Frame.Type.PART, 1).write(out);
      assertTrue(secret.isWelcome(challenge, 1, mine, Frame.read(in).payload()));
      assertEquals(Frame.Type.ALL, Frame.read(in).type());
      Callable<List<byte[]>> waits = () -> zero.get().gather(new byte[0], PATIENCE);
      Future<List<byte[]>> waiting = threads.submit(waits);
      one.close();
      assertTrue(failureOf(waiting).startsWith("rank 1 failed: its connection ended"));
      Ranks third = two.get();
      String message =
          assertThrows(RanksException.class, () -> third.gather(new byte[0], PATIENCE))
              .getMessage();
      assertTrue(message.contains("rank 1"), message);
      zero.get().close();
      third.close();
    }
  }

  @Test
  void whyARankFailedReachesTheOthers() throws Exception {
    try (RankServer server = serve(2, "s", PATIENCE, Watch.PROCESSES)) {
      List<Ranks> both = joinAll(2, server);
      Future<List<byte[]>> waiting =
          threads.submit(() -> both.get(0).gather(new byte[0], PATIENCE));
      both.get(1).fail("no memory left");
      assertEquals("rank 1 failed: no memory left", failureOf(waiting));
      both.forEach(Ranks::close);
    }
    try (RankServer server = serve(2, "s", PATIENCE, Watch.PROCESSES)) {
      List<Ranks> both = joinAll(2, server);
      Future<List<byte[]>> waiting =
          threads.submit(() -> both.get(0).gather(new byte[0], PATIENCE));
      server.lost(1, "was killed");
      assertEquals("rank 1 failed: was killed", failureOf(waiting));
      both.forEach(Ranks::close);
    }
  }

  @Test
  void whoEndsEarlyIsNotWaitedFor() throws Exception {
    try (RankServer server = serve(2, "s", PATIENCE, Watch.CONNECTIONS)) {
      List<Ranks> both = joinAll(2, server);
      both.get(1).close();
      String message = failureOf(threads.submit(() -> both.get(0).gather(new byte[0], PATIENCE)));
      assertTrue(message.contains("rank 1 failed: it ended while others"), message);
      both.get(0).close();
    }
  }

  @Test
  void nobodyWaitsForAServerThatIsGone() throws Exception {
    Ranks zero;
    Future<List<byte[]>> waiting;
    try (RankServer server = serve(2, "s", PATIENCE, Watch.CONNECTIONS)) {
      List<Ranks> both = joinAll(2, server);
      zero = both.get(0);
      both.get(1).fail("ends the server's own wait");
      Ranks waits = zero;
      waiting = threads.submit(() -> waits.gather(new byte[0], PATIENCE));
    }
    assertTrue(failureOf(waiting).contains("rank 1"));
    assertThrows(RanksException.class, zero::check);
    zero.close();
  }
}
