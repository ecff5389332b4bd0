package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import java.util.function.IntConsumer;
import org.agrona.concurrent.NanoClock;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.schedule.RailRates;
import org.jofi.rdma.schedule.RailShares;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.RailStatus;

/**
 * What goes to one peer, or is read from it, over several data rails. Messages are cut late: the
 * oldest one when a rail has room, for what is out on each rail and how fast it is by then. So what
 * one connection puts on a rail is known to the next, and a rail that gets slower holds up only
 * what it was given.
 *
 * <p>A message is cut whole, one stripe per rail at most, so that equal rails see what they would
 * of equal stripes. Where a single rail is through with it soon, it goes over the fewer rails the
 * more is out: together messages occupy all rails, with fewer operations. Only while rails are
 * measured that are not known, the others get a little of it at a time.
 */
final class DataFlow {
  /** For longer messages, what an operation costs is no reason to use fewer rails. */
  private static final long SHORT_BYTES = 1 << 20;

  private final Tasks tasks;
  private final NanoClock clock;
  private final long minStripeBytes;
  private final RailRates rates;
  private final RailShares shares;
  private final IntConsumer onAnswer;
  private final ArrayDeque<Message> waiting = new ArrayDeque<>();
  private final Pump pump = new Pump();

  /** Stripes that were given to rails, and are not done. */
  private int out;

  private long finished;

  interface Message {
    int stripes();

    long bytes();

    /** What is not cut yet, in bytes; 0 if it is not to be any more. */
    long left();

    /** The rails that work, a bit each. */
    int usableRails();

    /** Whether none works, and one soon may. */
    boolean mayWait();

    void cut(int rail, long lengthBytes);

    /** What was cut is to be posted, now or when the rails take it. */
    void post();
  }

  /** Cuts what waits, once the queues have delivered. */
  private final class Pump extends Task {
    @Override
    protected boolean advance() {
      bindWaiting();
      return true;
    }
  }

  DataFlow(
      Tasks tasks, NanoClock clock, RailRates rates, long minStripeBytes, IntConsumer onAnswer) {
    this.onAnswer = onAnswer;
    this.tasks = tasks;
    this.clock = clock;
    this.minStripeBytes = minStripeBytes;
    this.rates = rates;
    shares = new RailShares(rates);
  }

  /** It is cut and posted when its turn comes and a rail has room, which may be now. */
  void enter(Message message) {
    waiting.addLast(message);
    bindWaiting();
  }

  private void bindWaiting() {
    Message first = waiting.peekFirst();
    while (first != null && (first.left() == 0 || bind(first))) {
      if (first.left() == 0) {
        waiting.removeFirst();
      }
      first = waiting.peekFirst();
    }
  }

  /** Cuts some of a message, or all; whether a rail had room. */
  private boolean bind(Message message) {
    int usable = message.usableRails();
    if (usable == 0) {
      return !message.mayWait() && cutForNone(message);
    }
    int rails = Integer.bitCount(usable);
    int stripes = message.stripes();
    int most = ProtocolLimits.stripes(rates.rails());
    // Enough to measure rails by.
    boolean isLong = message.left() >= 2L * rails * RailRates.LEAST_STRIPE_BYTES;
    if (isLong && stripes == 0) {
      rates.look(usable, clock.nanoTime());
    }
    int probes = isLong && stripes + 3 * rails <= most ? rates.probe(usable) : 0;
    for (int left = probes; left != 0; left &= left - 1) {
      message.cut(Integer.numberOfTrailingZeros(left), RailRates.LEAST_STRIPE_BYTES);
    }
    int ready = isLong ? rates.ready(usable) : usable;
    boolean isLast = stripes + 2 * rails > most;
    // Others may soon take theirs.
    boolean isPart = ready != usable && !isLast;
    boolean cuts = isPart ? rates.isAnyIdle(ready) : rates.haveRoom(ready);
    if (cuts) {
      long part = message.left();
      if (isPart) {
        part = Math.min(part, 2L * Integer.bitCount(ready) * RailRates.LEAST_STRIPE_BYTES);
      }
      shares.cut(part, stripes == 0 ? most(message.bytes(), ready) : rails, ready);
      for (int rail = 0; rail < rates.rails(); rail++) {
        long share = shares.of(rail);
        if (share > 0) {
          message.cut(rail, isLast ? share : Math.min(share, rates.limit(rail)));
        }
      }
    }
    if (cuts || probes != 0) {
      message.post();
    }
    return cuts;
  }

  /** Posting finds out that no rail is left. */
  private static boolean cutForNone(Message message) {
    message.cut(0, message.left());
    message.post();
    return true;
  }

  /** Over how many rails a message goes at most. */
  private int most(long bytes, int usable) {
    int rails = Integer.bitCount(usable);
    if (bytes <= SHORT_BYTES && rails * rates.nanosFor(bytes, usable) < RailRates.BRIEF_NS) {
      rails = Math.ceilDiv(rails, out + 1);
    }
    return (int) Math.min(rails, (bytes - 1) / minStripeBytes + 1);
  }

  /** A stripe was cut for a rail, and counts as out there. */
  void give(int rail, long bytes) {
    out++;
    rates.give(rail, bytes, clock.nanoTime());
  }

  /** A stripe does not go over the rail that it was cut for, or failed there. */
  void takeBack(int rail, long bytes) {
    out--;
    rates.takeBack(rail, bytes);
    goOn();
  }

  /** A stripe is done, of a message of that length. */
  void done(int rail, long bytes, long ofBytes) {
    out--;
    finished++;
    rates.arrived(rail, bytes, ofBytes <= minStripeBytes, clock.nanoTime());
    onAnswer.accept(rail);
    goOn();
  }

  void restored(int rail) {
    rates.forget(rail);
    goOn();
  }

  /** Cuts what waits soon, if a rail has room. */
  void goOn() {
    if (!waiting.isEmpty()) {
      tasks.defer(pump);
    }
  }

  /** What went over a rail, and how fast it is taken to be. */
  RailStatus.Traffic traffic(int rail, int usable) {
    return new RailStatus.Traffic(
        rates.carried(rail),
        rates.out(rail),
        rates.measuredBytesPerSecond(rail),
        (usable & 1 << rail) == 0 ? 0 : rates.share(rail, usable));
  }

  /** Bytes that were given to a rail, and are not done; a stripe of none counts as one. */
  long out(int rail) {
    return rates.out(rail);
  }

  /** How long they should take, in nanoseconds. */
  double expectedNs(int rail) {
    return rates.out(rail) / rates.rate(rail);
  }

  /** The rail of those that is through with what is out on it first; that one if none is sooner. */
  int soonest(int first, int among) {
    int soonest = first;
    for (int rail = 0; rail < rates.rails(); rail++) {
      if ((among & 1 << rail) != 0 && expectedNs(rail) < expectedNs(soonest)) {
        soonest = rail;
      }
    }
    return soonest;
  }

  long finished() {
    return finished;
  }
}
