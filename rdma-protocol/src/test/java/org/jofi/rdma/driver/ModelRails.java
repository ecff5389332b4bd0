package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.schedule.RailRates;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * Rails of given rates, on virtual time: each carries its stripes one after the other, and the
 * answers take 0.3 ms and some jitter. A {@link DataFlow} cuts messages for them.
 */
final class ModelRails {
  /** 1 Gbit/s, in bytes per nanosecond. */
  static final double GIGABIT = 0.125;

  static final long MIN_STRIPE = 128 << 10;

  private static final double ROUND_TRIP_NS = 300_000;
  private static final double JITTER_NS = 150_000;
  private static final long POLL_NS = 20_000;

  private final double[] rates;
  private final Random random;
  private final Tasks tasks = new Tasks();
  private final DataFlow flow;
  private final double[] free;
  private final double[] answered;
  private final double[] longestWait;
  private final PriorityQueue<Answer> answers =
      new PriorityQueue<>((a, b) -> Double.compare(a.at, b.at));
  private long now;
  private long moved;
  private int stripes;
  private int usable;

  private record Answer(double at, int rail, long bytes, Sent message) {}

  /** A message. */
  private final class Sent implements DataFlow.Message {
    final long bytes;
    final List<Long> lengths = new ArrayList<>();
    final List<Integer> rails = new ArrayList<>();
    long cut;
    int posted;
    int out;

    Sent(long bytes) {
      this.bytes = bytes;
    }

    boolean isBound() {
      return cut == bytes;
    }

    @Override
    public int stripes() {
      return lengths.size();
    }

    @Override
    public long bytes() {
      return bytes;
    }

    @Override
    public long unbound() {
      return bytes - cut;
    }

    @Override
    public int usableRails() {
      return usable;
    }

    @Override
    public void bind(int rail, long lengthBytes) {
      assertTrue(lengthBytes > 0 && lengthBytes <= unbound(), "a stripe of nothing, or too much");
      lengths.add(lengthBytes);
      rails.add(rail);
      cut += lengthBytes;
      assertTrue(lengths.size() <= ProtocolLimits.stripes(rates.length), "stripes");
      out++;
      flow.give(rail, lengthBytes);
    }

    @Override
    public void post() {
      for (; posted < lengths.size(); posted++) {
        int rail = rails.get(posted);
        double start = Math.max((double) now, free[rail]);
        free[rail] = start + lengths.get(posted) / rates[rail];
        answered[rail] =
            Math.max(
                answered[rail],
                free[rail] + ROUND_TRIP_NS + Math.abs(random.nextGaussian()) * JITTER_NS);
        longestWait[rail] = Math.max(longestWait[rail], answered[rail] - now);
        answers.add(new Answer(answered[rail], rail, lengths.get(posted), this));
      }
    }

    @Override
    public boolean mayWait() {
      return false;
    }
  }

  ModelRails(long seed, long minStripeBytes, double... rates) {
    this.rates = rates;
    random = new Random(seed);
    free = new double[rates.length];
    answered = new double[rates.length];
    longestWait = new double[rates.length];
    flow =
        new DataFlow(
            tasks, () -> now, new RailRates(new long[rates.length]), minStripeBytes, _ -> {});
    usable = (1 << rates.length) - 1;
  }

  /** How long a stripe took at most. */
  double longestWaitNs(int rail) {
    return longestWait[rail];
  }

  /** A rail, on which nothing is out, is given nothing from now on. */
  void lose(int rail) {
    usable &= ~(1 << rail);
  }

  /** A rail is so fast from now on. */
  void rate(int rail, double rate) {
    rates[rail] = rate;
  }

  /** What all of them carry, in bytes per nanosecond. */
  double sum() {
    double sum = 0;
    for (double rate : rates) {
      sum += rate;
    }
    return sum;
  }

  /** Nothing happens for a while. */
  void rest(long ns) {
    now += ns;
  }

  /**
   * Sends messages, so many at a time.
   *
   * @return the part of the rails' sum that they reached
   */
  double send(int messages, long bytes, int atOnce) {
    long before = now;
    long start = moved;
    stripes = 0;
    int started = 0;
    int ended = 0;
    while (ended < messages) {
      while (started < messages && started - ended < atOnce) {
        started++;
        flow.enter(new Sent(bytes));
      }
      assertFalse(answers.isEmpty(), "nothing is out, and messages wait");
      Answer answer = answers.remove();
      now = Math.max(now, (long) answer.at + POLL_NS);
      answer.message.out--;
      moved += answer.bytes;
      flow.done(answer.rail, answer.bytes, answer.message.bytes);
      if (answer.message.isBound() && answer.message.out == 0) {
        ended++;
        stripes += answer.message.stripes();
      }
      tasks.run();
    }
    assertEquals(messages * bytes, moved - start);
    return messages * bytes / (sum() * (now - before));
  }

  /** Into how many stripes the messages of the last call were cut. */
  int stripes() {
    return stripes;
  }
}
