package org.jofi.simulated.engine;

import java.util.ArrayDeque;
import java.util.BitSet;
import org.jofi.simulated.completion.CompletionRing;
import org.jofi.simulated.completion.SimulatedCompletion;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.trace.TraceKind;

/**
 * A completion queue as the network has it: its capacity, its context slots, and the transfers that
 * wait for free space. Under the network's lock, unless it says otherwise.
 */
public final class CompletionStore {
  private final Network network;
  private final Lifecycle life;
  private final int depth;
  private final CompletionRing ring;
  private final BitSet busy;
  private final ArrayDeque<Transfer> waiting = new ArrayDeque<>();
  private int reserved;
  private long fullUntil;
  private volatile boolean attention;
  private volatile boolean overrun;

  /**
   * @param life that of the queue
   * @param depth how many completions have space
   * @param contexts how many context slots there are
   */
  public CompletionStore(Network network, Lifecycle life, int depth, int contexts) {
    this.network = network;
    this.life = life;
    this.depth = depth;
    // A cancelled operation always has space, because each context has.
    this.ring = new CompletionRing(depth + contexts);
    this.busy = new BitSet(contexts);
  }

  /**
   * Moves the oldest completion to {@code into}, and frees its context slot; returns false if there
   * is none. Without the lock, by the one thread that polls.
   */
  public boolean take(SimulatedCompletion into) {
    if (!ring.take(into)) {
      return false;
    }
    if (into.context() >= 0) {
      busy.clear(into.context());
    }
    return true;
  }

  /** Whether transfers wait for a poll of this queue. Any thread. */
  public boolean needsAttention() {
    return attention;
  }

  /** Whether completions were lost. Any thread. */
  public boolean isOverrun() {
    return overrun;
  }

  void callForAttention() {
    attention = true;
  }

  void beginAttention() {
    attention = false;
  }

  void endAttention() {
    attention |= !waiting.isEmpty();
  }

  /** Whether there is space for an arrival or another post. */
  public boolean hasRoom() {
    return ring.size() + reserved < depth && network.clock().nanoTime() >= fullUntil;
  }

  /** Reserves space for an operation's completion. */
  void reserve() {
    reserved++;
  }

  void unreserve() {
    reserved--;
  }

  /** Makes the queue full for a while. */
  public void fillFor(long nanos) {
    fullUntil = Math.max(fullUntil, network.clock().nanoTime() + nanos);
  }

  /** Lets an arrival wait for space. */
  void await(Transfer transfer) {
    transfer.scheduled++;
    waiting.addLast(transfer);
    attention = true;
  }

  /** The arrivals that wait for space, oldest first. */
  ArrayDeque<Transfer> waiting() {
    return waiting;
  }

  void overrun() {
    overrun = true;
    life.history().add("overrun, completions", ring.size());
  }

  /** Whether an operation uses this context slot. */
  public boolean isBusy(int context) {
    return busy.get(context);
  }

  /** Takes a context slot for an operation. */
  void take(int context) {
    busy.set(context);
  }

  /** An operation that uses this context slot will never complete: its endpoint closed. */
  void give(int context) {
    if (context >= 0) {
      busy.clear(context);
    }
  }

  void add(
      int context,
      long flags,
      long length,
      long data,
      int errno,
      int providerErrno,
      long overflow) {
    network.completion();
    network
        .trace()
        .record(TraceKind.COMPLETION, life.serial(), context, length ^ (long) errno << 48);
    ring.add(context, flags, length, data, errno, providerErrno, overflow);
  }

  /** What waits, as text for a dump. */
  void describe(StringBuilder text) {
    text.append("  ")
        .append(life.label())
        .append(": ")
        .append(ring.size())
        .append(" unpolled, ")
        .append(reserved)
        .append(" reserved of ")
        .append(depth)
        .append(", ")
        .append(waiting.size())
        .append(" arrivals wait for room, contexts in flight ")
        .append(busy)
        .append('\n');
  }
}
