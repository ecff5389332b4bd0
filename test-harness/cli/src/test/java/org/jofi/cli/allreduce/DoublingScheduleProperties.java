package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Doubling on paper: a message is a partial sum, and ranks take turns drawn at random. */
class DoublingScheduleProperties {
  /** What a rank has: whose contributions, and their sum. */
  private record Sum(BitSet ranks, float value) {
    Sum plus(Sum other) {
      assertTrue(!ranks.intersects(other.ranks), "added twice");
      BitSet both = (BitSet) ranks.clone();
      both.or(other.ranks);
      return new Sum(both, value + other.value);
    }
  }

  /** The ranks, each at a step of its schedule. */
  private static final class Ranks {
    final List<DoublingSchedule> schedules = new ArrayList<>();
    final List<Sum> sums = new ArrayList<>();
    final Map<List<Integer>, Queue<Sum>> inFlight = new HashMap<>();
    final int[] step;
    final boolean[] sent;

    Ranks(int ranks, Random random) {
      step = new int[ranks];
      sent = new boolean[ranks];
      for (int rank = 0; rank < ranks; rank++) {
        schedules.add(new DoublingSchedule(rank, ranks));
        BitSet own = new BitSet();
        own.set(rank);
        sums.add(new Sum(own, random.nextFloat() * (1 << random.nextInt(20))));
      }
    }

    private Queue<Sum> messages(int from, int to) {
      return inFlight.computeIfAbsent(List.of(from, to), edge -> new ArrayDeque<>());
    }

    boolean isDone(int rank) {
      return step[rank] == schedules.get(rank).steps().size();
    }

    boolean mayTurn(int rank) {
      if (isDone(rank)) {
        return false;
      }
      DoublingSchedule.Step now = schedules.get(rank).steps().get(step[rank]);
      boolean sends = now.action().sends() && !sent[rank];
      return sends || !now.action().receives() || !messages(now.partner(), rank).isEmpty();
    }

    void turn(int rank) {
      DoublingSchedule.Step now = schedules.get(rank).steps().get(step[rank]);
      if (now.action().sends() && !sent[rank]) {
        messages(rank, now.partner()).add(sums.get(rank));
        sent[rank] = true;
        return;
      }
      if (now.action().receives()) {
        Sum message = messages(now.partner(), rank).remove();
        sums.set(rank, now.action().adds() ? sums.get(rank).plus(message) : message);
      }
      sent[rank] = false;
      step[rank]++;
    }
  }

  @Property(tries = 300)
  void everyContributionIsAddedOnceAndAllHaveTheSameBits(
      @ForAll @IntRange(min = 1, max = 17) int count, @ForAll long seed) {
    Random random = new Random(seed);
    Ranks ranks = new Ranks(count, random);
    List<Integer> possible = new ArrayList<>();
    do {
      possible.clear();
      for (int rank = 0; rank < count; rank++) {
        if (ranks.mayTurn(rank)) {
          possible.add(rank);
        }
      }
      if (!possible.isEmpty()) {
        ranks.turn(possible.get(random.nextInt(possible.size())));
      }
    } while (!possible.isEmpty());
    BitSet all = new BitSet();
    all.set(0, count);
    for (int rank = 0; rank < count; rank++) {
      assertTrue(ranks.isDone(rank), "stuck: rank " + rank);
      assertEquals(all, ranks.sums.get(rank).ranks);
      assertEquals(
          Float.floatToRawIntBits(ranks.sums.getFirst().value),
          Float.floatToRawIntBits(ranks.sums.get(rank).value));
    }
    assertTrue(ranks.inFlight.values().stream().allMatch(Queue::isEmpty), "sent in vain");
  }

  @Property
  void stepsAreAsFewAsTheyCanBe(@ForAll @IntRange(min = 1, max = 1024) int ranks) {
    int exchanges = Integer.numberOfTrailingZeros(Integer.highestOneBit(ranks));
    boolean folds = Integer.bitCount(ranks) > 1;
    for (int rank = 0; rank < ranks; rank++) {
      List<DoublingSchedule.Step> steps = new DoublingSchedule(rank, ranks).steps();
      assertTrue(steps.size() <= exchanges + (folds ? 2 : 0), steps::toString);
      assertTrue(folds || steps.size() == exchanges, steps::toString);
    }
  }

  /** So that both connect to each other. */
  @Property
  void partnersAreMutual(@ForAll @IntRange(min = 1, max = 200) int ranks) {
    for (int rank = 0; rank < ranks; rank++) {
      List<Integer> partners = new DoublingSchedule(rank, ranks).partners();
      Set<Integer> distinct = new HashSet<>(partners);
      assertEquals(partners.size(), distinct.size());
      for (int partner : partners) {
        assertNotEquals(rank, partner);
        assertTrue(new DoublingSchedule(partner, ranks).partners().contains(rank));
      }
    }
  }

  /** A receive that is posted early must not meet an earlier step's message. */
  @Property
  void aConnectionCarriesOneMessageEachWay(@ForAll @IntRange(min = 1, max = 200) int ranks) {
    for (int rank = 0; rank < ranks; rank++) {
      Set<Integer> sentTo = new HashSet<>();
      Set<Integer> receivedFrom = new HashSet<>();
      for (DoublingSchedule.Step step : new DoublingSchedule(rank, ranks).steps()) {
        assertTrue(!step.action().sends() || sentTo.add(step.partner()));
        assertTrue(!step.action().receives() || receivedFrom.add(step.partner()));
      }
    }
  }
}
