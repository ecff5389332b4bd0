package org.jofi.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks as programs use them: over sockets, where the first one serves, and as threads. */
@Timeout(120)
class RanksTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(300);

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void endThreads() throws InterruptedException {
    threads.shutdownNow();
    assertTrue(threads.awaitTermination(20, TimeUnit.SECONDS), "a rank hangs");
  }

  private static JoinOptions options(String secret) {
    return JoinOptions.defaults().withSecret(secret);
  }

  /** A port that was free a moment ago. */
  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static List<String> texts(List<byte[]> told) {
    return told.stream().map(each -> new String(each, StandardCharsets.UTF_8)).toList();
  }

  /** Ranks that met over sockets: the first of them serves. */
  private List<Ranks> joined(int size) throws Exception {
    int port = freePort();
    return all(
        IntStream.range(0, size).boxed().toList(),
        rank -> Ranks.join(Placement.of(rank, size, "127.0.0.1", port), options("s"), PATIENCE));
  }

  private List<Ranks> met(String how, int size) throws Exception {
    return how.equals("threads") ? Ranks.threads(size) : joined(size);
  }

  /** Does the same with each, at the same time. */
  private <A, B> List<B> all(List<A> each, Function<A, B> what) throws Exception {
    List<Future<B>> futures = new ArrayList<>();
    for (A one : each) {
      futures.add(threads.submit(() -> what.apply(one)));
    }
    List<B> results = new ArrayList<>();
    for (Future<B> future : futures) {
      results.add(future.get());
    }
    return results;
  }

  private void gatherOnce(List<Ranks> ranks, String salt) throws Exception {
    List<String> expected = IntStream.range(0, ranks.size()).mapToObj(rank -> rank + salt).toList();
    for (List<byte[]> told : all(ranks, one -> one.gather(text(one.rank() + salt), PATIENCE))) {
      assertEquals(expected, texts(told));
    }
  }

  /** Leaves in the order of numbers: the one that serves waits for the others. */
  private void close(List<Ranks> ranks) throws Exception {
    all(
        ranks,
        one -> {
          one.close();
          return one;
        });
  }

  private static void awaitLoss(Ranks ranks, int lost, String words) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        ranks.check();
      } catch (RankLostException e) {
        assertEquals(lost, e.rank(), e.getMessage());
        assertTrue(String.valueOf(e.getMessage()).contains(words), e.getMessage());
        return;
      }
      assertTrue(System.nanoTime() - deadline < 0, "nobody noticed");
      Thread.sleep(1);
    }
  }

  private static <E extends Exception> E thrown(Class<E> type, Callable<?> call) {
    return assertThrows(type, call::call);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1 sockets", "2 sockets", "5 sockets", "1 threads", "5 threads"})
  void allMeetAndTellEachOther(String run) throws Exception {
    int size = Integer.parseInt(run.substring(0, 1));
    List<Ranks> ranks = met(run.substring(2), size);
    for (int rank = 0; rank < size; rank++) {
      assertEquals(rank, ranks.get(rank).rank());
      assertEquals(size, ranks.get(rank).size());
      assertEquals("rank " + rank, ranks.get(rank).name());
    }
    gatherOnce(ranks, "a");
    all(
        ranks,
        one -> {
          one.barrier(PATIENCE);
          return one;
        });
    gatherOnce(ranks, "b");
    close(ranks);
    for (Ranks one : ranks) {
      one.check();
      thrown(
          IllegalStateException.class,
          () -> {
            one.tell(new byte[0]);
            return one;
          });
      thrown(IllegalStateException.class, () -> one.shrink(PATIENCE));
      one.close();
    }
  }

  /** Nobody has a clock for that, and nobody needs one. */
  @Test
  void patienceMayBeLong() throws Exception {
    Duration longest = Duration.ofSeconds(Long.MAX_VALUE);
    Ranks only = Ranks.join(Placement.of(0, 1, "localhost", freePort()), options(""), longest);
    only.barrier(longest);
    only.store().set("key", text("value"));
    assertEquals(5, only.store().get("key", longest).length);
    only.shrink(longest).close();
  }

  @Test
  void aListOfAddressesPlacesRanks() throws Exception {
    int port = freePort();
    List<String> addresses = List.of("127.0.0.1:" + port, "127.0.0.1", "[::1]:9");
    assertEquals(1, Placement.of(addresses, 1).localRank());
    assertEquals(0, Placement.of(addresses, 2).localRank());
    List<Ranks> ranks =
        all(
            List.of(0, 1, 2),
            rank -> Ranks.join(Placement.of(addresses, rank), options(""), PATIENCE));
    assertEquals(1, ranks.get(1).localRank());
    gatherOnce(ranks, "");
    close(ranks);
    for (int bad : List.of(-1, 3)) {
      thrown(IllegalArgumentException.class, () -> Placement.of(addresses, bad));
    }
    IllegalArgumentException refusal =
        thrown(IllegalArgumentException.class, () -> Placement.of(List.of("h:0"), 0));
    assertTrue(String.valueOf(refusal.getMessage()).contains("'h:0'"), refusal.getMessage());
  }

  /** At both, though the first rank, which closes the server, may know it first. */
  @RepeatedTest(20)
  void whatIsNotAlikeIsNamed() throws Exception {
    int port = freePort();
    List<Future<Ranks>> both =
        IntStream.range(0, 2)
            .mapToObj(
                rank ->
                    threads.submit(
                        () ->
                            Ranks.join(
                                Placement.of(rank, 2, "localhost", port),
                                options("s").withParameters(Map.of("chunk", "" + rank)),
                                PATIENCE)))
            .toList();
    for (Future<Ranks> one : both) {
      Throwable failure = assertThrows(ExecutionException.class, one::get).getCause();
      assertTrue(failure instanceof RanksException, failure::toString);
      String words = String.valueOf(failure.getMessage());
      assertTrue(words.contains("not started alike") && words.contains("chunk is "), words);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sockets", "threads"})
  void whoSaysNothingIsNamed(String how) throws Exception {
    List<Ranks> ranks = met(how, 3);
    RankTimeoutException late =
        thrown(RankTimeoutException.class, () -> ranks.get(0).gather(text("0x"), SHORT));
    assertEquals(List.of(1, 2), late.missing());
    assertTrue(String.valueOf(late.getMessage()).contains("rank 1, rank 2"), late.getMessage());
    // What was late is taken later.
    List<Future<List<byte[]>>> others =
        List.of(1, 2).stream()
            .map(rank -> threads.submit(() -> ranks.get(rank).gather(text(rank + "x"), PATIENCE)))
            .toList();
    for (Future<List<byte[]>> other : others) {
      assertEquals(List.of("0x", "1x", "2x"), texts(other.get()));
    }
    List<byte[]> told = ranks.get(0).told();
    while (told == null) {
      Thread.sleep(1);
      told = ranks.get(0).told();
    }
    assertEquals(List.of("0x", "1x", "2x"), texts(told));
    late = thrown(RankTimeoutException.class, () -> ranks.get(2).shrink(SHORT));
    assertEquals(
        "rank 2 waited 0.3 s to go on with rank 0, rank 1, who did not ask for it",
        late.getMessage());
    assertEquals(List.of(0, 1), late.missing());
    // All that are there may go on without anybody's loss, too.
    assertEquals(3, all(ranks, one -> one.shrink(PATIENCE)).getFirst().size());
    close(ranks);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sockets", "threads"})
  void thoseThatAreLeftGoOnTwice(String how) throws Exception {
    List<Ranks> ranks = met(how, 5);
    ranks.get(3).fail("no memory left");
    for (int rank : List.of(0, 1, 2, 4)) {
      awaitLoss(ranks.get(rank), 3, "rank 3 failed: no memory left");
    }
    List<Ranks> four =
        all(
            List.of(0, 1, 2, 4),
            rank -> {
              Ranks rest = ranks.get(rank).shrink(PATIENCE);
              assertEquals(ranks.get(rank).localRank(), rest.localRank());
              return rest;
            });
    assertEquals(List.of(0, 1, 2, 3), four.stream().map(Ranks::rank).toList());
    gatherOnce(four, "four");
    // The old ones stay lost.
    thrown(RankLostException.class, () -> ranks.get(0).gather(new byte[0], PATIENCE));
    thrown(IllegalArgumentException.class, () -> four.get(0).gather(new byte[17 << 20], PATIENCE));

    // One is lost amid a gathering, another while the rest are about to go on.
    Future<List<byte[]>> waits = threads.submit(() -> four.get(0).gather(text("x"), PATIENCE));
    four.get(1).fail("a");
    assertEquals(
        "rank 1 failed: a",
        assertThrows(ExecutionException.class, waits::get).getCause().getMessage());
    Future<Ranks> early = threads.submit(() -> four.get(0).shrink(PATIENCE));
    Thread.sleep(20);
    assertFalse(early.isDone());
    four.get(3).close();
    List<Ranks> two =
        List.of(threads.submit(() -> four.get(2).shrink(PATIENCE)).get(), early.get());
    assertEquals(1, two.get(0).rank());
    assertEquals(0, two.get(1).rank());
    gatherOnce(two.reversed(), "two");
    close(two);
    close(ranks);
  }

  /** They fill all that the server has for strangers; a rank comes again when they are gone. */
  @Test
  void ranksGetInThoughStrangersWait() throws Exception {
    try (RankServer server =
        RankServer.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            1,
            options(""),
            PATIENCE,
            RankServer.Watch.CONNECTIONS)) {
      List<Socket> strangers = new ArrayList<>();
      while (server.refused() == 0) {
        strangers.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
        Thread.sleep(1);
      }
      Placement placement = Placement.of(0, 1, "localhost", server.port());
      Future<Ranks> joins =
          threads.submit(() -> Ranks.join(placement, options("").withServing(false), PATIENCE));
      long before = server.refused();
      while (server.refused() == before) {
        Thread.sleep(1);
      }
      for (Socket each : strangers) {
        each.close();
      }
      joins.get().close();
    }
  }

  /** What starts the processes serves, and sees them end. */
  @Test
  void aLauncherThatServesOutlivesRankZero() throws Exception {
    try (RankServer server =
        RankServer.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            3,
            options("s"),
            PATIENCE,
            RankServer.Watch.PROCESSES)) {
      List<Ranks> ranks =
          all(
              List.of(0, 1, 2),
              rank -> {
                Map<String, String> environment =
                    Placement.of(rank, 3, "127.0.0.1", server.port()).environment();
                return Ranks.join(Placement.of(environment).orElseThrow(), options("s"), PATIENCE);
              });
      server.lost(0, "(process 7) was killed by signal 9 (SIGKILL)");
      for (int rank : List.of(1, 2)) {
        awaitLoss(ranks.get(rank), 0, "rank 0 failed: (process 7) was killed by signal 9");
      }
      List<Ranks> two = all(List.of(1, 2), rank -> ranks.get(rank).shrink(PATIENCE));
      gatherOnce(two, "x");
      // By the number that it was started with.
      server.lost(2, "ended");
      awaitLoss(two.getFirst(), 1, "rank 1 failed: ended");
      assertEquals(1, two.getFirst().shrink(PATIENCE).size());
      assertThrows(IndexOutOfBoundsException.class, () -> server.lost(3, "x"));
      close(ranks);
    }
  }

  @Test
  void theEndOfTheServingRankEndsAll() throws Exception {
    List<Ranks> ranks = joined(3);
    // As if the process ended: without a word, and at once.
    ranks.get(0).fail("ends its server");
    for (int rank : List.of(1, 2)) {
      awaitLoss(ranks.get(rank), 0, "rank 0 failed: ends its server");
      RankLostException end =
          thrown(RankLostException.class, () -> ranks.get(rank).shrink(PATIENCE));
      assertEquals(-1, end.rank());
      assertTrue(
          String.valueOf(end.getMessage()).contains("lost the bootstrap server"), end.getMessage());
    }
    close(ranks);
  }
}
