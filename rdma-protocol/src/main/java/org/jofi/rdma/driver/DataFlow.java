package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import java.util.function.IntConsumer;
import org.agrona.concurrent.NanoClock;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.schedule.RailRates;
import org.jofi.rdma.schedule.RailShares;
import org.jofi.rdma.wire.ProtocolLimits;

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
final class DataFlow extends Task {
  /** For longer messages, what an operation costs is no reason to use fewer rails. */
  private static final long SHORT_BYTES = 1 << 20;

  private final Tasks tasks;
  private final NanoClock clock;
  private final long minStripeBytes;
  final RailRates rates;
  private final RailShares shares;
  private final IntConsumer onAnswer;
  private final ArrayDeque<Message> waiting = new ArrayDeque<>();

  /** Stripes that were given to rails, and are not done. */
  private int out;

  private long finished;

  interface Message {
    int stripes();

    long bytes();

    /** What is not cut yet, in bytes; 0 if it is not to be any more. */
    long unbound();

    /** The rails that work, a bit each. */
    int usableRails();

    /** Whether none works, and one soon may. */
    boolean mayWait();

    void bind(int rail, long lengthBytes);

    /** What was cut is to be posted, now or when the rails take it. */
    void post();
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

  /** Cuts what waits, once the queues have delivered. */
  @Override
  protected boolean advance() {
    bindWaiting();
    return true;
  }

  /** It is cut and posted when its turn comes and a rail has room, which may be now. */
  void enter(Message message) {
    waiting.addLast(message);
    bindWaiting();
  }

  private void bindWaiting() {
    Message first = waiting.peekFirst();
    while (first != null && (first.unbound() == 0 || bind(first))) {
      if (first.unbound() == 0) {
        waiting.removeFirst();
      }
      first = waiting.peekFirst();
    }
  }

  /** Cuts some of a message, or all; whether a rail had room. */
  private boolean bind(Message message) {
    int usable = message.usableRails();
    if (usable == 0) {
      if (message.mayWait()) {
        return false;
      }
      // Posting finds out that no rail is left.
      message.bind(0, message.unbound());
      message.post();
      return true;
    }
    int rails = Integer.bitCount(usable);
    int stripes = message.stripes();
    int most = ProtocolLimits.stripes(rates.rails());
    // Enough to measure rails by.
    boolean isLong = message.unbound() >= 2L * rails * RailRates.LEAST_STRIPE_BYTES;
    if (isLong && stripes == 0) {
      rates.look(usable, clock.nanoTime());
    }
    int probes = isLong && stripes + 3 * rails <= most ? rates.probe(usable) : 0;
    for (int left = probes; left != 0; left &= left - 1) {
      message.bind(Integer.numberOfTrailingZeros(left), RailRates.LEAST_STRIPE_BYTES);
    }
    int ready = isLong ? rates.ready(usable) : usable;
    boolean isLast = stripes + 2 * rails > most;
    // Others may soon take theirs.
    boolean isPart = ready != usable && !isLast;
    boolean cuts = rates.haveRoom(ready, isPart);
    if (cuts) {
      long part = message.unbound();
      if (isPart) {
        part = Math.min(part, 2L * Integer.bitCount(ready) * RailRates.LEAST_STRIPE_BYTES);
      }
      shares.cut(part, stripes == 0 ? most(message.bytes(), ready) : rails, ready);
      for (int rail = 0; rail < rates.rails(); rail++) {
        long share = shares.of(rail);
        if (share > 0) {
          message.bind(rail, isLast ? share : Math.min(share, rates.limit(rail)));
        }
      }
    }
    if (cuts || probes != 0) {
      message.post();
    }
    return cuts;
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
      tasks.defer(this);
    }
  }

  /** The rail of those that is through with what is out on it first; that one if none is sooner. */
  int soonest(int first, int among) {
    int soonest = first;
    for (int rail = 0; rail < rates.rails(); rail++) {
      if ((among & 1 << rail) != 0 && rates.expectedNs(rail) < rates.expectedNs(soonest)) {
        soonest = rail;
      }
    }
    return soonest;
  }

  long finished() {
    return finished;
  }
}
