package org.jofi.cli.perf;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import net.openhft.chronicle.core.util.Histogram;
import org.jofi.cli.ranks.RingLinks;

/**
 * One rank's part of a measurement between two ranks. Rank 0 begins: it measures the latencies, and
 * if there is only one stream, it sends that. For one thread.
 */
public final class PerfRun {
  /** Times up to 18 minutes, with 256 buckets per power of two, so they are exact to 0.4 %. */
  static final int HISTOGRAM_POWERS = 40;

  static final int HISTOGRAM_BITS = 8;

  private static final int BEFORE = 1;
  private static final int SENT = 1000;

  private final PerfPlan plan;
  private final RingLinks links;
  private final LongConsumer progress;
  private final boolean begins;
  private final Histogram latencies = new Histogram(HISTOGRAM_POWERS, HISTOGRAM_BITS);
  private long lengths;

  /**
   * @param plan what to measure; the same for both ranks
   * @param links the connections between the two ranks
   * @param progress is called with the number of finished lengths
   */
  public PerfRun(PerfPlan plan, RingLinks links, LongConsumer progress) {
    if (links.ranks().size() != 2) {
      throw new IllegalArgumentException("two ranks are measured, not " + links.ranks().size());
    }
    this.plan = plan;
    this.links = links;
    this.progress = progress;
    this.begins = links.ranks().rank() == 0;
  }

  /**
   * Runs it.
   *
   * @param each takes the result of each length as soon as it is known; called on both ranks
   * @throws org.jofi.cli.ranks.RankFailure if this rank fails
   * @throws org.jofi.ranks.RanksException if the other rank is lost
   */
  public void run(Consumer<PerfRow> each) {
    Handshake handshake = new Handshake(links);
    for (long bytes : plan.sizesBytes()) {
      each.accept(measure(bytes, handshake));
      progress.accept(++lengths);
    }
  }

  private PerfRow measure(long bytes, Handshake handshake) {
    // After a failure it stays open, because NICs may still access it.
    PerfMemory memory = new PerfMemory(links, plan, bytes);
    Measurement measurement = new Measurement(memory, bytes, handshake);
    long wrong = measurement.verify();
    measurement.latency();
    long streamNanos = measurement.stream();
    PerfRow.Measured mine =
        new PerfRow.Measured(
            latencies.percentile(0.5),
            latencies.percentile(0.99),
            latencies.percentile(0.999),
            streamNanos,
            wrong + measurement.wrongLengths());
    // The other rank may still wait for transfers that need this rank's progress and memory.
    List<byte[]> both = links.gather(mine.encode());
    memory.close();
    return PerfRow.of(
        bytes,
        plan.iterations(bytes),
        plan.bidirectional(),
        PerfRow.Measured.decode(both.get(0)),
        PerfRow.Measured.decode(both.get(1)));
  }

  /** The measurement of one length. */
  private final class Measurement {
    private final PerfMemory memory;
    private final Handshake handshake;
    private final int warmup;
    private final int count;
    private final Flow single;
    private final Flow windowed;
    private final Flow singleReceives;
    private final Flow receives;

    Measurement(PerfMemory memory, long bytes, Handshake handshake) {
      this.memory = memory;
      this.handshake = handshake;
      this.warmup = plan.warmup(bytes);
      this.count = plan.iterations(bytes);
      this.single = flow(memory, bytes, 1);
      this.windowed = flow(memory, bytes, plan.window());
      // Two, although one message is answered at a time, so that the next receive is always posted.
      this.singleReceives = Flows.receives(links, memory, bytes, 2);
      this.receives = Flows.receives(links, memory, bytes, plan.window());
    }

    private Flow flow(PerfMemory of, long bytes, int window) {
      return switch (plan.operation()) {
        case SEND -> Flows.sends(links, of, bytes, window);
        case WRITE -> Flows.writes(links, of, bytes, window);
        case READ -> Flows.reads(links, of, bytes, window);
        case FLUSH -> Flows.flushes(links, of, bytes, window);
      };
    }

    /** Transfers each slot once in both directions, and counts the bytes that are wrong here. */
    long verify() {
      int rank = links.ranks().rank();
      memory.fillNear(rank + SENT);
      memory.fillFar(rank + BEFORE);
      int peer = 1 - rank;
      handshake.await();
      switch (plan.operation()) {
        case SEND, FLUSH -> {
          Flow sends = Flows.sends(links, memory, memory.bytes(), 1);
          Flow.runBoth(sends, singleReceives, memory.slots());
          if (plan.operation() == PerfOperation.FLUSH) {
            single.run(memory.slots());
          }
        }
        case WRITE, READ -> single.run(memory.slots());
      }
      handshake.await();
      return plan.operation() == PerfOperation.READ
          ? memory.wrongNear(peer + BEFORE)
          : memory.wrongFar(peer + SENT);
    }

    void latency() {
      latencies.reset();
      handshake.await();
      if (plan.operation() == PerfOperation.SEND) {
        PingPong pingPong = new PingPong(single, singleReceives);
        if (begins) {
          pingPong.begin(warmup, count, latencies);
        } else {
          pingPong.answer(warmup + count);
        }
      } else if (begins) {
        single.run(warmup);
        single.begin(count);
        for (int i = 0; i < count; i++) {
          long before = System.nanoTime();
          single.finish(i);
          latencies.sample((double) (System.nanoTime() - before));
        }
      }
      handshake.await();
    }

    /** How long this rank's part took; 0 if it has none. */
    long stream() {
      stream(warmup);
      return stream(count);
    }

    private long stream(int messages) {
      boolean initiates = begins || plan.bidirectional();
      handshake.await();
      long before = System.nanoTime();
      if (plan.operation() != PerfOperation.SEND) {
        if (initiates) {
          windowed.run(messages);
        }
      } else if (plan.bidirectional()) {
        Flow.runBoth(windowed, receives, messages);
      } else if (begins) {
        windowed.run(messages);
      } else {
        receives.run(messages);
      }
      long nanos = System.nanoTime() - before;
      handshake.await();
      return initiates || plan.operation() == PerfOperation.SEND ? nanos : 0;
    }

    long wrongLengths() {
      return single.wrongLengths()
          + windowed.wrongLengths()
          + singleReceives.wrongLengths()
          + receives.wrongLengths();
    }
  }
}
