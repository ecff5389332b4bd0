package org.jofi.ranks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that all ranks see, over sockets and among threads. */
@Timeout(120)
class StoreTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(50);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void endThreads() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
    threads.shutdownNow();
    assertTrue(threads.awaitTermination(20, TimeUnit.SECONDS), "a rank hangs");
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private List<Ranks> met(String how, int size) throws Exception {
    if (how.equals("threads")) {
      List<Ranks> ranks = Ranks.threads(size);
      opened.addAll(ranks);
      return ranks;
    }
    JoinOptions options = JoinOptions.defaults().withSecret("").withServing(false);
    RankServer server =
        RankServer.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            size,
            options,
            PATIENCE,
            RankServer.Watch.CONNECTIONS);
    opened.add(server);
    List<Future<Ranks>> joining = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      Placement placement = Placement.of(rank, size, "127.0.0.1", server.port());
      joining.add(threads.submit(() -> Ranks.join(placement, options, PATIENCE)));
    }
    List<Ranks> ranks = new ArrayList<>();
    for (Future<Ranks> each : joining) {
      ranks.add(each.get());
    }
    opened.addAll(ranks);
    return ranks;
  }

  @ParameterizedTest
  @ValueSource(strings = {"sockets", "threads"})
  void whatOneSetsTheOthersGet(String how) throws Exception {
    List<Ranks> ranks = met(how, 3);
    Store one = ranks.get(0).store();
    Store other = ranks.get(2).store();
    Future<byte[]> waits = threads.submit(() -> other.get("late", PATIENCE));
    byte[] mine = text("value");
    one.set("key", mine);
    mine[0] = 'X';
    assertArrayEquals(text("value"), other.get("key", PATIENCE));
    one.set("key", new byte[0]);
    assertArrayEquals(new byte[0], other.get("key", PATIENCE));
    RankTimeoutException late =
        assertThrows(RankTimeoutException.class, () -> one.get("late", SHORT));
    assertTrue(String.valueOf(late.getMessage()).contains("'late'"), late.getMessage());
    one.set("late", text("now"));
    assertArrayEquals(text("now"), waits.get());
    assertEquals(-5, one.add("count", -5));
    assertEquals(2, other.add("count", 7));
    IllegalStateException no = assertThrows(IllegalStateException.class, () -> one.add("late", 1));
    assertEquals("'late' is no number", no.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"sockets", "threads"})
  void ofSeveralThatExpectTheSameOneSucceeds(String how) throws Exception {
    List<Ranks> ranks = met(how, 4);
    int each = 50;
    List<Future<Integer>> all = new ArrayList<>();
    for (Ranks rank : ranks) {
      all.add(
          threads.submit(
              () -> {
                Store store = rank.store();
                int won = 0;
                for (int at = 0; at < each; at++) {
                  store.add("sum", 1);
                  if (store.compareAndSet("turn " + at, null, text(rank.name()))) {
                    won++;
                  }
                }
                return won;
              }));
    }
    int won = 0;
    for (Future<Integer> one : all) {
      won += one.get();
    }
    assertEquals(each, won);
    Store store = ranks.getFirst().store();
    assertEquals(4L * each, store.add("sum", 0));
    byte[] winner = store.get("turn 0", PATIENCE);
    assertFalse(store.compareAndSet("turn 0", text("nobody"), text("x")));
    assertTrue(store.compareAndSet("turn 0", winner, null), "removes it");
    assertThrows(RankTimeoutException.class, () -> store.get("turn 0", SHORT));
    assertTrue(store.compareAndSet("turn 0", null, text("x")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"sockets", "threads"})
  void aLossEndsWaitsAndLeavesTheValues(String how) throws Exception {
    List<Ranks> ranks = met(how, 3);
    ranks.get(1).store().set("key", text("of a rank that is lost"));
    Future<byte[]> waits = threads.submit(() -> ranks.get(0).store().get("never", PATIENCE));
    ranks.get(1).fail("x");
    Throwable end = assertThrows(ExecutionException.class, waits::get).getCause();
    assertTrue(end instanceof RankLostException lost && lost.rank() == 1, end::toString);
    assertThrows(RankLostException.class, () -> ranks.get(0).store().set("key", text("")));
    Future<Ranks> shrinks = threads.submit(() -> ranks.get(2).shrink(PATIENCE));
    Ranks rest = ranks.get(0).shrink(PATIENCE);
    assertArrayEquals(text("of a rank that is lost"), rest.store().get("key", PATIENCE));
    rest.store().set("never", text("after all"));
    assertArrayEquals(text("after all"), shrinks.get().store().get("never", PATIENCE));
    Future<byte[]> leaves = threads.submit(() -> rest.store().get("nothing", PATIENCE));
    awaitBlocked(leaves);
    rest.close();
    assertTrue(
        assertThrows(ExecutionException.class, leaves::get).getCause()
            instanceof IllegalStateException);
    assertThrows(IllegalStateException.class, () -> rest.store().add("count", 1));
  }

  /** Whether it is under way already does not matter for what it throws. */
  private static void awaitBlocked(Future<?> call) throws InterruptedException {
    Thread.sleep(10);
    assertFalse(call.isDone());
  }

  @Test
  void itHasBounds() throws Exception {
    Store store = met("threads", 1).getFirst().store();
    for (String key : List.of("", "x".repeat(Store.MAX_KEY_BYTES + 1), "ä".repeat(129))) {
      assertThrows(IllegalArgumentException.class, () -> store.set(key, new byte[1]));
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> store.set("key", new byte[Store.MAX_VALUE_BYTES + 1]));
    byte[] longest = new byte[Store.MAX_VALUE_BYTES];
    int fit = 0;
    IllegalStateException full = null;
    while (full == null) {
      try {
        store.set("x".repeat(Store.MAX_KEY_BYTES - 4) + (1000 + fit), longest);
        fit++;
      } catch (IllegalStateException e) {
        full = e;
      }
    }
    assertEquals((64 << 20) / (Store.MAX_VALUE_BYTES + Store.MAX_KEY_BYTES), fit);
    assertTrue(String.valueOf(full.getMessage()).contains("no place"), full.getMessage());
    // What is there may be replaced, and what was removed leaves its place.
    String first = "x".repeat(Store.MAX_KEY_BYTES - 4) + 1000;
    store.set(first, longest);
    assertTrue(store.compareAndSet(first, longest, null));
    for (int key = fit; key <= Store.MAX_KEYS; key++) {
      store.set("k" + key, new byte[0]);
    }
    assertThrows(IllegalStateException.class, () -> store.set("one more", new byte[0]));
    assertThrows(IllegalStateException.class, () -> store.add("one more", 1));
    // Waiting has a bound, too, and who waits no more counts no more.
    for (int turn = 0; turn < 2; turn++) {
      List<Future<byte[]>> waits = new ArrayList<>();
      for (int i = 0; i <= StoreTable.MOST_WAITING; i++) {
        waits.add(threads.submit(() -> store.get("absent", PATIENCE)));
      }
      Future<byte[]> refused = null;
      while (refused == null) {
        for (Future<byte[]> one : waits) {
          refused = one.isDone() ? one : refused;
        }
        Thread.sleep(1);
      }
      Throwable why = assertThrows(ExecutionException.class, refused::get).getCause();
      assertTrue(String.valueOf(why.getMessage()).contains("waits for 256 keys"), why::toString);
      waits.forEach(one -> one.cancel(true));
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (waits.stream().anyMatch(one -> !one.isDone())) {
        assertTrue(System.nanoTime() - deadline < 0);
      }
    }
  }
}
