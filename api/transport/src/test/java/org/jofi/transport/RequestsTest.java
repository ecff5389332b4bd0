package org.jofi.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RequestsTest {
  /** For what ends: only who hangs reaches it. */
  private static final Duration BOUND = Duration.ofSeconds(60);

  /** For what does not. */
  private static final Duration SHORT = Duration.ofMillis(50);

  private final Await await = new Await(_ -> {});
  private final Map<Long, Integer> testsUntilOver = new HashMap<>();
  private final Map<Long, Long> results = new HashMap<>();
  private final Comm comm = comm();
  private int tests;

  /** A communicator whose requests are over after so many tests. */
  private Comm comm() {
    return (Comm)
        Proxy.newProxyInstance(
            Comm.class.getClassLoader(),
            new Class<?>[] {Comm.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "test" -> test((Long) arguments[0]);
                  case "failure" ->
                      Optional.of(
                          new Failure(
                              FailureCause.of(results.get((Long) arguments[0])),
                              5,
                              "here",
                              "it broke"));
                  default -> "a communicator";
                });
  }

  private long test(long request) {
    tests++;
    Integer left = testsUntilOver.get(request);
    if (left == null) {
      return Result.STALE_REQUEST;
    }
    if (left > 0) {
      testsUntilOver.put(request, left - 1);
      return Result.IN_PROGRESS;
    }
    testsUntilOver.remove(request);
    return results.getOrDefault(request, request);
  }

  private void add(Requests requests, long request, int testsBefore) {
    testsUntilOver.put(request, testsBefore);
    requests.add(comm, request);
  }

  @Test
  void allWaitsForEachAndKeepsTheResults() {
    Requests requests = new Requests(2);
    for (int i = 1; i <= 20; i++) {
      add(requests, i, i % 5);
    }
    assertEquals(20, requests.add(comm, Result.NOTHING_TO_DO));
    assertEquals(20, requests.pending());
    await.all(requests, BOUND);
    assertEquals(0, requests.pending());
    assertEquals(21, requests.size());
    for (int i = 0; i < 20; i++) {
      assertEquals(i + 1, requests.result(i));
      assertEquals(i + 1, requests.request(i));
    }
    assertEquals(0, requests.result(20));
    assertEquals(20 + 4 * (1 + 2 + 3 + 4), tests, "one that is over is not tested again");
    requests.clear();
    assertEquals(0, requests.size());
    await.all(requests, BOUND);
  }

  @Test
  void allThrowsTheFirstFailureWhenAllAreOver() {
    Requests requests = new Requests(3);
    add(requests, 1, 9);
    add(requests, 2, 3);
    results.put(2L, FailureCause.FABRIC.code());
    add(requests, 3, 1);
    results.put(3L, FailureCause.PEER_LOST.code());
    TransportException first =
        assertThrows(TransportException.class, () -> await.all(requests, BOUND));
    assertEquals(FailureCause.PEER_LOST, first.failure().cause());
    assertTrue(first.getMessage().contains("it broke"), first::getMessage);
    assertEquals(1, requests.result(0));
    assertEquals(FailureCause.FABRIC.code(), requests.result(1));
  }

  @Test
  void allTimesOutAndLeavesTheRestInFlight() {
    Requests requests = new Requests(2);
    add(requests, 1, 0);
    add(requests, 2, Integer.MAX_VALUE);
    TransportException late =
        assertThrows(TransportException.class, () -> await.all(requests, SHORT));
    assertEquals(FailureCause.TIMED_OUT, late.failure().cause());
    assertTrue(late.getMessage().contains("1 of 2 requests"), late::getMessage);
    assertEquals(1, requests.result(0));
    assertEquals(Result.IN_PROGRESS, requests.result(1));
    testsUntilOver.put(2L, 3);
    await.all(requests, BOUND);
    assertEquals(2, requests.result(1));
  }

  @Test
  void anyReturnsEachOnce() {
    Requests requests = new Requests(4);
    for (int i = 1; i <= 30; i++) {
      add(requests, i, i * 7 % 13);
    }
    results.put(4L, FailureCause.FABRIC.code());
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      int index = await.any(requests, BOUND);
      assertTrue(seen.add(index), () -> index + " came twice");
      assertEquals(index == 3 ? FailureCause.FABRIC.code() : index + 1, requests.result(index));
    }
    assertThrows(IllegalStateException.class, () -> await.any(requests, BOUND));
    add(requests, 99, Integer.MAX_VALUE);
    TransportException late =
        assertThrows(TransportException.class, () -> await.any(requests, SHORT));
    assertEquals(FailureCause.TIMED_OUT, late.failure().cause());
  }

  @Test
  void whatIsNoRequestIsRefused() {
    Requests requests = new Requests(1);
    assertThrows(IllegalArgumentException.class, () -> requests.add(comm, Result.TRY_AGAIN));
    assertThrows(IndexOutOfBoundsException.class, () -> requests.result(0));
    requests.add(comm, 1234);
    IllegalArgumentException stale =
        assertThrows(IllegalArgumentException.class, () -> await.all(requests, BOUND));
    assertTrue(stale.getMessage().contains("no request 0x4d2"), stale::getMessage);
  }
}
