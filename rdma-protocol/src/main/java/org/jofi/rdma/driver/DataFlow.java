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
 * more messages are out: together they occupy all rails, with fewer operations. Only while the
 * rates are not to be relied on, a part of it is kept back for the rails that are done first; at
 * most {@link ProtocolLimits#STRIPES_PER_RAIL} rounds of that.
 */
final class DataFlow {
  /** Rates that are off by no more are relied on. */
  private static final double RELIABLE = 0.08;

  /** A rate may change before so much is through. */
  private static final double LONG_NS = 1e8;

  /** For longer messages, what an operation costs is no reason to use fewer rails. */
  private static final long SHORT_BYTES = 1 << 20;

  private final Tasks tasks;
  private final NanoClock clock;
  private final long minStripeBytes;
  private final RailRates rates;
  private final RailShares shares;

  /** Stripes that were given to each rail, and are not done; some have no bytes. */
  private final int[] stripes;

  /** How many messages have such stripes. */
  private int messages;

  private final IntConsumer onAnswer;
  private final ArrayDeque<Message> waiting = new ArrayDeque<>();
  private final Pump pump = new Pump();
  private long finished;

  /** What is cut. */
  interface Message {
    /** Whether all of it was cut. */
    boolean isBound();

    /** How many stripes were cut. */
    int stripes();

    /** How many of its stripes were given to rails, and are not done. */
    int out();

    /** What is to be cut in all, in bytes. */
    long bytes();

    /** What is not cut yet, in bytes. */
    long left();

    /** The rails that work, a bit each. */
    int usableRails();

    /** A stripe is cut for a rail. */
    void cut(int rail, long lengthBytes);

    /** What was cut is to be posted, now or when the rails take it. */
    void post();

    /** Whether none works, and one soon may. */
    boolean mayWait();

    /** Whether it is in the flow's queue. */
    boolean waits();

    /** It is in the flow's queue, or no more. */
    void waits(boolean value);
  }

  /** Cuts what waits, once the queues have delivered. */
  private final class Pump extends Task {
    @Override
    protected boolean advance() {
      bindWaiting();
      return true;
    }
  }

  /**
   * @param rates of the rails, as they are taken to be at first
   * @param minStripeBytes least length that is worth another rail
   * @param onAnswer is told the rail when something that was out on it arrived
   */
  DataFlow(
      Tasks tasks, NanoClock clock, RailRates rates, long minStripeBytes, IntConsumer onAnswer) {
    this.onAnswer = onAnswer;
    this.tasks = tasks;
    this.clock = clock;
    this.minStripeBytes = minStripeBytes;
    this.rates = rates;
    shares = new RailShares(rates);
    stripes = new int[rates.rails()];
  }

  /** It is cut and posted when its turn comes and a rail has room, which may be now. */
  void enter(Message message) {
    if (!message.waits()) {
      message.waits(true);
      waiting.addLast(message);
    }
    bindWaiting();
  }

  private void bindWaiting() {
    for (Message first = waiting.peekFirst(); first != null; first = waiting.peekFirst()) {
      if (first.isBound()) {
        waiting.removeFirst();
        first.waits(false);
      } else if (!bind(first)) {
        return;
      }
    }
  }

  private boolean bind(Message message) {
    int usable = message.usableRails();
    if (usable == 0 && message.mayWait()) {
      return false;
    }
    if (usable == 0) {
      // Posting finds that out.
      message.cut(0, message.left());
      message.post();
      return true;
    }
    boolean first = message.stripes() == 0;
    boolean probes = mayProbe(message, usable) && probe(message, usable, first);
    int ready = isLong(message, usable) ? rates.ready(usable) : usable;
    boolean cuts = ready != 0 && rates.haveRoom(ready);
    if (cuts) {
      shares.cut(part(message, usable, ready, first), most(message, ready, first), ready);
      for (int rail = 0; rail < rates.rails(); rail++) {
        if (shares.of(rail) > 0) {
          message.cut(rail, shares.of(rail));
        }
      }
    }
    if (cuts || probes) {
      message.post();
    }
    return cuts;
  }

  private boolean mayProbe(Message message, int usable) {
    return isLong(message, usable)
        && message.stripes() + 3 * Integer.bitCount(usable)
            <= ProtocolLimits.stripes(rates.rails());
  }

  /** Whether what is left of it is enough to measure rails by. */
  private static boolean isLong(Message message, int usable) {
    return message.left() >= 2L * Integer.bitCount(usable) * RailRates.LEAST_STRIPE_BYTES;
  }

  /** Over how many rails it goes at most. */
  private int most(Message message, int usable, boolean first) {
    int rails = Integer.bitCount(usable);
    if (!first) {
      return rails;
    }
    long bytes = message.bytes();
    if (bytes <= SHORT_BYTES && rails * rates.nanosFor(bytes, usable) < RailRates.BRIEF_NS) {
      int others = messages - (message.out() > 0 ? 1 : 0);
      rails = Math.ceilDiv(rails, others + 1);
    }
    return (int) Math.min(rails, (bytes - 1) / minStripeBytes + 1);
  }

  /**
   * A rail that was not measured yet, or not for long, gets a little, to learn how fast it is;
   * whether one did.
   */
  private boolean probe(Message message, int usable, boolean first) {
    if (first) {
      rates.look(usable, clock.nanoTime());
    }
    boolean any = false;
    for (int rail = rates.probe(usable); rail != RailRates.NONE; rail = rates.probe(usable)) {
      message.cut(rail, RailRates.LEAST_STRIPE_BYTES);
      any = true;
    }
    return any;
  }

  /** How much of a message is cut now. */
  private long part(Message message, int usable, int ready, boolean first) {
    int rails = Integer.bitCount(usable);
    long left = message.left();
    long least = rails * RailRates.LEAST_STRIPE_BYTES;
    if (left <= least || message.stripes() + 2 * rails > ProtocolLimits.stripes(rates.rails())) {
      return left;
    }
    if (ready != usable) {
      // Others may soon take theirs.
      return 2L * Integer.bitCount(ready) * RailRates.LEAST_STRIPE_BYTES;
    }
    double error = rates.error(usable);
    double ns = rates.nanosFor(left, usable);
    boolean unsure = error > RELIABLE && (ns > RailRates.BRIEF_NS || error >= RailRates.UNMEASURED);
    if (!unsure && ns < LONG_NS) {
      return left;
    }
    double share = first && ns < LONG_NS ? Math.max(0.5, 1 - 2 * error) : 0.5;
    long part = (long) (left * share);
    return Math.max(least, part / RailShares.ALIGNMENT_BYTES * RailShares.ALIGNMENT_BYTES);
  }

  /** A stripe was cut for a rail, and counts as out there; {@link Message#out} has it already. */
  void give(Message message, int rail, long bytes) {
    if (message.out() == 1) {
      messages++;
    }
    stripes[rail]++;
    rates.give(rail, bytes, clock.nanoTime());
  }

  /**
   * A stripe does not go over the rail that it was cut for, or failed there; {@link Message#out} is
   * without it already.
   */
  void takeBack(Message message, int rail, long bytes) {
    isBack(message, rail);
    rates.takeBack(rail, bytes);
    goOn();
  }

  private void isBack(Message message, int rail) {
    stripes[rail]--;
    if (message.out() == 0) {
      messages--;
    }
  }

  /** A stripe of a message, out no more, is done. */
  void done(Message message, int rail, long bytes) {
    isBack(message, rail);
    finished++;
    rates.arrived(rail, bytes, isAlone(message), clock.nanoTime());
    onAnswer.accept(rail);
    goOn();
  }

  /** A rail is used again. */
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

  private boolean isAlone(Message message) {
    return message.bytes() <= minStripeBytes;
  }

  /**
   * What went over a rail, and how fast it is taken to be.
   *
   * @param usable the rails that are used, a bit each
   */
  RailStatus.Traffic traffic(int rail, int usable) {
    return new RailStatus.Traffic(
        rates.carried(rail),
        rates.out(rail),
        rates.measuredBytesPerSecond(rail),
        (usable & 1 << rail) == 0 ? 0 : rates.share(rail, usable));
  }

  /** Bytes that were given to a rail, and are not done; a stripe of none counts as one. */
  long out(int rail) {
    return Math.max(rates.out(rail), stripes[rail]);
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

  /** How many stripes are done. */
  long finished() {
    return finished;
  }
}
