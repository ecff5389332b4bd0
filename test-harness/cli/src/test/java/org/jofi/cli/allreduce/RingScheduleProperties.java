package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Rings on paper: messages are lists of contributions, and move in an order drawn at random. */
class RingScheduleProperties {
  /** One rank's part of the sum of one element; added, it must not be there twice. */
  private static final class Ring {
    final RingSchedule[] schedules;
    final BitSet[][] arrays;
    final List<List<BitSet[]>> inFlight = new ArrayList<>();
    final int[] sent;
    final int[] received;
    final boolean[][] sendTaken;

    Ring(int ranks, int elements, int chunk) {
      schedules = new RingSchedule[ranks];
      arrays = new BitSet[ranks][elements];
      sent = new int[ranks];
      received = new int[ranks];
      sendTaken = new boolean[ranks][];
      for (int rank = 0; rank < ranks; rank++) {
        schedules[rank] = new RingSchedule(rank, ranks, elements, chunk);
        sendTaken[rank] = new boolean[schedules[rank].sends()];
        for (int i = 0; i < elements; i++) {
          arrays[rank][i] = new BitSet();
          arrays[rank][i].set(rank);
        }
        inFlight.add(new ArrayList<>());
      }
    }

    boolean maySend(int rank) {
      RingSchedule schedule = schedules[rank];
      return sent[rank] < schedule.sends() && schedule.sendNeeds(sent[rank]) < received[rank];
    }

    void send(int rank) {
      RingSchedule schedule = schedules[rank];
      int send = sent[rank]++;
      BitSet[] message = new BitSet[schedule.sendCount(send)];
      for (int i = 0; i < message.length; i++) {
        message[i] = (BitSet) arrays[rank][(int) schedule.sendOffset(send) + i].clone();
      }
      inFlight.get((rank + 1) % schedules.length).add(message);
    }

    boolean mayReceive(int rank) {
      RingSchedule schedule = schedules[rank];
      int receive = received[rank];
      if (receive == schedule.receives() || inFlight.get(rank).isEmpty()) {
        return false;
      }
      // Every send up to the one it needs has been taken by the next rank.
      int needs = schedule.receiveNeeds(receive);
      return needs < 0 || sendTaken[rank][needs];
    }

    void receive(int rank) {
      RingSchedule schedule = schedules[rank];
      int receive = received[rank]++;
      int previous = Math.floorMod(rank - 1, schedules.length);
      BitSet[] message = inFlight.get(rank).removeFirst();
      sendTaken[previous][receive] = true;
      assertEquals(schedule.receiveCount(receive), message.length, "lengths of one message");
      assertEquals(schedules[previous].sendOffset(receive), schedule.receiveOffset(receive));
      for (int i = 0; i < message.length; i++) {
        int at = (int) schedule.receiveOffset(receive) + i;
        if (receive < schedule.reductions()) {
          assertTrue(!arrays[rank][at].intersects(message[i]), "added twice");
          arrays[rank][at].or(message[i]);
        } else {
          arrays[rank][at] = message[i];
        }
      }
    }
  }

  @Property(tries = 400)
  void everyElementIsAddedOnceAndReachesAll(
      @ForAll @IntRange(min = 1, max = 8) int ranks,
      @ForAll @IntRange(min = 0, max = 70) int elements,
      @ForAll @IntRange(min = 1, max = 20) int chunk,
      @ForAll long seed) {
    Ring ring = new Ring(ranks, elements, chunk);
    Random random = new Random(seed);
    List<Runnable> possible = new ArrayList<>();
    do {
      possible.clear();
      for (int rank = 0; rank < ranks; rank++) {
        int each = rank;
        if (ring.maySend(rank)) {
          possible.add(() -> ring.send(each));
        }
        if (ring.mayReceive(rank)) {
          possible.add(() -> ring.receive(each));
        }
      }
      if (!possible.isEmpty()) {
        possible.get(random.nextInt(possible.size())).run();
      }
    } while (!possible.isEmpty());
    BitSet all = new BitSet();
    all.set(0, ranks);
    for (int rank = 0; rank < ranks; rank++) {
      assertEquals(ring.schedules[rank].sends(), ring.sent[rank], "stuck sending");
      assertEquals(ring.schedules[rank].receives(), ring.received[rank], "stuck receiving");
      for (BitSet element : ring.arrays[rank]) {
        assertEquals(all, element);
      }
    }
  }

  /** The least that a ring can send: 2 (n - 1) / n of the array, to a segment's rounding. */
  @Property(tries = 200)
  void noRankSendsMoreThanItMust(
      @ForAll @IntRange(min = 1, max = 8) int ranks,
      @ForAll @IntRange(min = 0, max = 1000) int elements,
      @ForAll @IntRange(min = 1, max = 100) int chunk) {
    for (int rank = 0; rank < ranks; rank++) {
      RingSchedule schedule = new RingSchedule(rank, ranks, elements, chunk);
      int sent = 0;
      for (int send = 0; send < schedule.sends(); send++) {
        assertTrue(schedule.sendCount(send) >= 1 && schedule.sendCount(send) <= chunk);
        sent += schedule.sendCount(send);
      }
      int least = 2 * (ranks - 1) * (elements / ranks);
      assertTrue(sent >= least && sent <= least + 2 * (ranks - 1), sent + " of " + elements);
    }
  }

  @Property(tries = 50)
  void whatIsOverwrittenHasLeft(
      @ForAll @IntRange(min = 2, max = 8) int ranks,
      @ForAll @IntRange(min = 1, max = 200) int elements,
      @ForAll @IntRange(min = 1, max = 30) int chunk) {
    for (int rank = 0; rank < ranks; rank++) {
      RingSchedule schedule = new RingSchedule(rank, ranks, elements, chunk);
      for (int receive = schedule.reductions(); receive < schedule.receives(); receive++) {
        int needs = schedule.receiveNeeds(receive);
        assertTrue(needs >= 0, "a sum lands where nothing was waited for");
        assertEquals(schedule.sendOffset(needs), schedule.receiveOffset(receive));
        assertEquals(schedule.sendCount(needs), schedule.receiveCount(receive));
      }
    }
  }
}
