package org.jofi.collectives.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * Carries out the schedules of all ranks in any order that they allow, which a seed chooses: steps
 * begin when those before them are over, and messages between two ranks meet in their order.
 * Elements are numbers, combined by adding them; ending a reduction adds {@link #FINISHED}.
 */
final class SimulatedRanks {
  static final long FINISHED = 1L << 50;

  private static final int NOBODY = -1;

  private final Random random;
  private final List<OneRank> ranks = new ArrayList<>();

  /** A rank's memory, and how far it is. */
  private static final class OneRank {
    final Schedule schedule;
    final long[] input;
    final long[] output;
    final int inputAt;
    final int outputAt;
    final long[] scratch;
    final int[] needs;
    final List<Integer> ready = new ArrayList<>();
    final List<Deque<Integer>> sends = new ArrayList<>();
    final List<Deque<Integer>> receives = new ArrayList<>();
    int left;

    OneRank(Schedule schedule, long[] input, int inputAt, long[] output, int outputAt) {
      this.schedule = schedule;
      this.input = input;
      this.output = output;
      this.inputAt = inputAt;
      this.outputAt = outputAt;
      scratch = new long[Math.toIntExact(schedule.scratch())];
      left = schedule.steps().size();
      needs = new int[left];
      for (int peer = 0; peer < schedule.size(); peer++) {
        sends.add(queue(Step.Kind.SEND, peer));
        receives.add(queue(Step.Kind.RECEIVE, peer));
      }
      for (int step = 0; step < needs.length; step++) {
        needs[step] = schedule.needs(step);
        if (needs[step] == 0 && schedule.steps().get(step).isLocal()) {
          ready.add(step);
        }
      }
    }

    private Deque<Integer> queue(Step.Kind kind, int peer) {
      return new ArrayDeque<>(schedule.messages(kind, peer).boxed().toList());
    }

    long get(Place place, long offset) {
      return memory(place)[at(place, offset)];
    }

    void set(Place place, long offset, long value) {
      memory(place)[at(place, offset)] = value;
    }

    private long[] memory(Place place) {
      return switch (place) {
        case INPUT -> input;
        case OUTPUT -> output;
        case SCRATCH -> scratch;
      };
    }

    private int at(Place place, long offset) {
      assertTrue(offset >= 0);
      return Math.toIntExact(offset)
          + (place == Place.INPUT ? inputAt : place == Place.OUTPUT ? outputAt : 0);
    }

    void over(int step) {
      left--;
      schedule
          .waiting(step)
          .forEach(
              next -> {
                if (--needs[next] == 0 && schedule.steps().get(next).isLocal()) {
                  ready.add(next);
                }
              });
    }
  }

  SimulatedRanks(long seed) {
    random = new Random(seed);
  }

  /** Adds the next rank. Memory may be the same for both, with the places where they begin. */
  void add(Schedule schedule, long[] input, int inputAt, long[] output, int outputAt) {
    ranks.add(new OneRank(schedule, input, inputAt, output, outputAt));
  }

  /** Runs until nothing is left; fails if ranks wait for each other. */
  void run() {
    while (ranks.stream().anyMatch(rank -> rank.left > 0)) {
      assertTrue(advance(NOBODY), "ranks wait for each other");
    }
  }

  /** Runs all but one rank, which has not come, as far as they get; how many are over. */
  long runWithout(int late) {
    boolean worked = true;
    while (worked) {
      worked = advance(late);
    }
    return ranks.stream().filter(rank -> rank.left == 0).count();
  }

  private boolean advance(int late) {
    List<Runnable> possible = new ArrayList<>();
    for (int rank = 0; rank < ranks.size(); rank++) {
      OneRank one = ranks.get(rank);
      if (rank == late) {
        continue;
      }
      for (int step : one.ready) {
        possible.add(() -> local(one, step));
      }
      for (int peer = 0; peer < ranks.size(); peer++) {
        Integer send = one.sends.get(peer).peek();
        Integer receive = ranks.get(peer).receives.get(rank).peek();
        if (peer != late
            && send != null
            && receive != null
            && one.needs[send] == 0
            && ranks.get(peer).needs[receive] == 0) {
          int from = rank;
          int to = peer;
          possible.add(() -> message(from, to));
        }
      }
    }
    if (possible.isEmpty()) {
      return false;
    }
    possible.get(random.nextInt(possible.size())).run();
    return true;
  }

  private void message(int from, int to) {
    OneRank sender = ranks.get(from);
    OneRank receiver = ranks.get(to);
    int send = sender.sends.get(to).remove();
    int receive = receiver.receives.get(from).remove();
    Step out = sender.schedule.steps().get(send);
    Step in = receiver.schedule.steps().get(receive);
    assertEquals(out.count(), in.count(), "message from %d to %d".formatted(from, to));
    for (int i = 0; i < out.count(); i++) {
      receiver.set(in.into(), in.intoOffset() + i, sender.get(out.first(), out.firstOffset() + i));
    }
    sender.over(send);
    receiver.over(receive);
  }

  private static void local(OneRank rank, int index) {
    Step step = rank.schedule.steps().get(index);
    long[] results = new long[Math.toIntExact(step.count())];
    Arrays.setAll(
        results,
        i -> {
          long first = rank.get(step.first(), step.firstOffset() + i);
          return switch (step.kind()) {
            case COPY -> first;
            case COMBINE -> first + rank.get(step.second(), step.secondOffset() + i);
            case FINISH -> first + FINISHED;
            case SEND, RECEIVE -> throw new AssertionError(step);
          };
        });
    for (int i = 0; i < results.length; i++) {
      rank.set(step.into(), step.intoOffset() + i, results[i]);
    }
    rank.ready.remove(Integer.valueOf(index));
    rank.over(index);
  }
}
