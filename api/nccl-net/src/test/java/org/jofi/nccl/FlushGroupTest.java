package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;

/** What NCCL takes as one flush. */
class FlushGroupTest {
  private final Deque<Long> posts = new ArrayDeque<>();
  private final Deque<Long> tests = new ArrayDeque<>();
  private int progressed;

  private final RecvComm comm =
      (RecvComm)
          Proxy.newProxyInstance(
              RecvComm.class.getClassLoader(),
              new Class<?>[] {RecvComm.class},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "iflush" -> posts.remove();
                    case "test" -> tests.remove();
                    case "progress" -> {
                      progressed++;
                      yield null;
                    }
                    default -> throw new AssertionError(method.getName());
                  });

  private final Registration registration =
      (Registration)
          Proxy.newProxyInstance(
              Registration.class.getClassLoader(),
              new Class<?>[] {Registration.class},
              (proxy, method, arguments) -> {
                assertEquals("memory", method.getName());
                return Memory.host(4096, 1 << 20);
              });

  private FlushGroup group(int buffers) {
    FlushGroup group = new FlushGroup(comm);
    group.begin();
    for (int buffer = 0; buffer < buffers; buffer++) {
      group.add((buffer + 1) * 4096L, 4096, registration);
    }
    return group;
  }

  @Test
  void nothingToFlushIsDone() {
    assertEquals(0, group(0).poll());
  }

  @Test
  void whereNoneIsNeededItIsDone() {
    posts.addAll(List.of(Result.NOTHING_TO_DO, Result.NOTHING_TO_DO));

    assertEquals(0, group(2).poll());
  }

  @Test
  void itIsDoneWhenAllOfThemAre() {
    FlushGroup group = group(3);
    posts.addAll(List.of(11L, Result.NOTHING_TO_DO, 13L));
    tests.addAll(List.of(Result.IN_PROGRESS));
    assertEquals(Result.IN_PROGRESS, group.poll());

    tests.addAll(List.of(4096L, Result.IN_PROGRESS));
    assertEquals(Result.IN_PROGRESS, group.poll());

    tests.add(4096L);
    assertEquals(0, group.poll());
    assertTrue(posts.isEmpty() && tests.isEmpty());
  }

  @Test
  void whatCannotBePostedNowIsPostedLater() {
    FlushGroup group = group(2);
    posts.addAll(List.of(11L, Result.TRY_AGAIN));
    tests.add(4096L);
    assertEquals(Result.IN_PROGRESS, group.poll());
    assertEquals(1, progressed);

    posts.add(Result.TRY_AGAIN);
    assertEquals(Result.IN_PROGRESS, group.poll());
    assertEquals(2, progressed);

    posts.add(12L);
    tests.add(4096L);
    assertEquals(0, group.poll());
  }

  @Test
  void aFailureIsReportedWithItsRequest() {
    FlushGroup group = group(2);
    posts.addAll(List.of(11L, 12L));
    tests.addAll(List.of(4096L, FailureCause.PEER_LOST.code()));

    assertEquals(FailureCause.PEER_LOST.code(), group.poll());
    assertEquals(12, group.failed());
  }

  /** The first poll is iflush's own, which only tells whether there is something to wait for. */
  @Test
  void aFailureIsReportedByEveryLaterPoll() {
    FlushGroup group = group(1);
    posts.add(11L);
    tests.add(FailureCause.PEER_LOST.code());
    assertEquals(FailureCause.PEER_LOST.code(), group.poll());

    // The transport reported the request, and would call it stale now.
    assertEquals(FailureCause.PEER_LOST.code(), group.poll());
    assertEquals(11, group.failed());
  }

  @Test
  void afterAFailureTheOthersAreWaitedForAndNoneIsPosted() {
    FlushGroup group = group(3);
    posts.addAll(List.of(11L, 12L, Result.TRY_AGAIN));
    tests.addAll(List.of(FailureCause.FABRIC.code(), Result.IN_PROGRESS));
    assertEquals(Result.IN_PROGRESS, group.poll());

    tests.add(FailureCause.PEER_LOST.code());
    assertEquals(FailureCause.FABRIC.code(), group.poll());
    assertEquals(11, group.failed());
    assertTrue(posts.isEmpty() && tests.isEmpty());
  }

  @Test
  void aGroupOfNextTimeKnowsNoFailure() {
    FlushGroup group = group(1);
    posts.add(11L);
    tests.add(FailureCause.PEER_LOST.code());
    assertEquals(FailureCause.PEER_LOST.code(), group.poll());

    group.begin();
    assertEquals(0, group.poll());
  }
}
