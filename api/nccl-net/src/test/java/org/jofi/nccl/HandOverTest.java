package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HandOverTest {
  private static final int SLOTS = RequestTable.CAPACITY;

  /** A transport with room for some requests, which are over when a test says so. */
  private static final class Transport implements HandOver.Requester {
    final List<Integer> posted = new ArrayList<>();
    final Map<Long, Long> results = new HashMap<>();
    int room = SLOTS;
    int refused = -1;
    int untestable = -1;

    @Override
    public long post(int slot) {
      if (slot == refused) {
        throw new IllegalArgumentException("refused " + slot);
      }
      if (room == 0) {
        return Result.TRY_AGAIN;
      }
      room--;
      posted.add(slot);
      return 1000L + slot;
    }

    @Override
    public long test(int slot, long id) {
      assertEquals(1000L + slot, id);
      if (slot == untestable) {
        throw new IllegalStateException("closed");
      }
      return results.getOrDefault(id, Result.IN_PROGRESS);
    }

    @Override
    public String explain(int slot, long id, long result) {
      return "why " + id;
    }
  }

  private final Transport transport = new Transport();
  private final HandOver driver = new HandOver(transport);

  @Test
  void postsInOrderAsFarAsThereIsRoom() {
    transport.room = 2;
    assertTrue(driver.isEmpty());
    driver.add(7);
    driver.add(3);
    driver.add(5);
    assertFalse(driver.isEmpty());
    driver.run();
    assertEquals(List.of(7, 3), transport.posted);
    assertFalse(driver.isEmpty());
    transport.room = 1;
    driver.run();
    assertEquals(List.of(7, 3, 5), transport.posted);
    assertTrue(driver.isEmpty());
  }

  @Test
  void resultsComeInWhateverOrder() {
    for (int slot = 0; slot < 4; slot++) {
      driver.add(slot);
    }
    driver.run();
    transport.results.put(1002L, 64L);
    transport.results.put(1001L, FailureCause.PEER_LOST.code());
    driver.run();
    assertEquals(Result.IN_PROGRESS, driver.result(0));
    assertEquals(FailureCause.PEER_LOST.code(), driver.result(1));
    assertEquals("why 1001", driver.failure(1));
    assertEquals(64, driver.result(2));
    assertEquals(Result.IN_PROGRESS, driver.result(3));
    transport.results.put(1000L, 1L);
    transport.results.put(1003L, 3L);
    driver.run();
    assertEquals(1, driver.result(0));
    assertEquals(3, driver.result(3));
  }

  @Test
  void whatTheTransportRefusesIsThrownAtItsResultAndHoldsUpNothing() {
    transport.refused = 1;
    driver.add(0);
    driver.add(1);
    driver.add(2);
    driver.run();
    assertEquals(List.of(0, 2), transport.posted);
    assertThrows(IllegalArgumentException.class, () -> driver.result(1));
    driver.add(1);
    assertEquals(Result.IN_PROGRESS, driver.result(1));
  }

  @Test
  void aTestThatThrowsIsToldAndHoldsUpNothing() {
    driver.add(0);
    driver.add(1);
    transport.untestable = 0;
    transport.results.put(1001L, 8L);
    driver.run();
    assertThrows(IllegalStateException.class, () -> driver.result(0));
    assertEquals(8, driver.result(1));
  }

  @Test
  void nothingIsPostedAfterTheEnd() {
    driver.add(0);
    driver.end();
    driver.run();
    assertEquals(List.of(), transport.posted);
  }

  /** Slots are used again and again while another thread drives. */
  @Test
  void twoThreadsAgree() throws InterruptedException {
    long[] sent = new long[SLOTS];
    HandOver shared =
        new HandOver(
            new HandOver.Requester() {
              private int tests;

              @Override
              public long post(int slot) {
                return sent[slot];
              }

              @Override
              public long test(int slot, long id) {
                return ++tests % 3 == 0 ? id : Result.IN_PROGRESS;
              }

              @Override
              public String explain(int slot, long id, long result) {
                return "";
              }
            });
    CountDownLatch stop = new CountDownLatch(1);
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (stop.getCount() > 0) {
                    shared.run();
                  }
                });
    long next = 1;
    for (int round = 0; round < 20_000; round++) {
      int first = round * 5 % SLOTS;
      for (int i = 0; i < 5; i++) {
        sent[(first + i) % SLOTS] = next++;
        shared.add((first + i) % SLOTS);
      }
      for (int i = 0; i < 5; i++) {
        int slot = (first + i) % SLOTS;
        while (shared.result(slot) == Result.IN_PROGRESS) {
          Thread.onSpinWait();
        }
        assertEquals(sent[slot], shared.result(slot));
      }
    }
    stop.countDown();
    thread.join();
  }
}
