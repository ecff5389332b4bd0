package org.jofi.simulated;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;

/**
 * A completion queue: its capacity, its context slots, and the transfers that wait for free space.
 */
final class SimulatedCompletionQueue implements CompletionQueue {
  private final SimulatedDomain domain;
  private final Network network;
  private final Lifecycle life;
  private final int depth;
  private final int contexts;
  private final CompletionRing ring;
  private final SimulatedCompletion taken;
  private final BitSet busy;
  private final List<SimulatedEndpoint> endpoints = new ArrayList<>();
  private final ArrayDeque<Transfer> waiting = new ArrayDeque<>();
  private final GroupGuard guard;
  private int reserved;
  private long fullUntil;
  private volatile boolean attention;
  private volatile boolean overrun;
  private boolean polling;

  SimulatedCompletionQueue(SimulatedDomain domain, int depth, int contexts) {
    this.domain = domain;
    this.network = domain.network();
    this.depth = depth;
    this.contexts = contexts;
    this.life = new Lifecycle(network, domain.life().label() + " completion queue");
    // A cancelled operation always has space, because each context has.
    this.ring = new CompletionRing(depth + contexts);
    this.taken = new SimulatedCompletion(life.label());
    this.busy = new BitSet(contexts);
    this.guard = new GroupGuard(network, life);
    domain.life().addUser(life);
  }

  SimulatedDomain domain() {
    return domain;
  }

  Lifecycle life() {
    return life;
  }

  GroupGuard guard() {
    return guard;
  }

  @Override
  public int contexts() {
    return contexts;
  }

  @Override
  public int poll(Sink sink, int limit) {
    guard.enter("fi_cq_read");
    try {
      requirePollable(limit);
      return progressAndDeliver(sink, limit);
    } finally {
      guard.exit();
    }
  }

  private int progressAndDeliver(Sink sink, int limit) {
    polling = true;
    try {
      boolean virtual = network.clock().isVirtual();
      if (virtual) {
        network.pollBudget().spend();
        network.clock().spend(Network.POLL_NANOS);
      }
      network.progress();
      if (!virtual) {
        // In virtual time, the simulation throws them.
        network.contracts().throwDiscovered();
      }
      if (attention) {
        attend();
      }
      return overrun ? -FabricErrno.EOVERRUN : deliver(sink, limit);
    } finally {
      polling = false;
    }
  }

  private void requirePollable(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("poll at least 1 completion, not " + limit);
    }
    if (!life.isOpen()) {
      network.enter();
      try {
        life.requireOpen("fi_cq_read");
      } finally {
        network.exit();
      }
    }
    if (polling) {
      String detail = life.label() + " is being polled";
      throw network
          .contracts()
          .misuse(
              Rule.POLL_REENTRANT,
              "fi_cq_read",
              life.history(),
              detail,
              new IllegalStateException(detail));
    }
  }

  private int deliver(Sink sink, int limit) {
    int delivered = 0;
    while (delivered < limit && ring.take(taken)) {
      delivered++;
      int context = taken.context;
      if (context >= 0) {
        busy.clear(context);
      }
      if (taken.errno == 0) {
        sink.completed(context, taken.flags, taken.length, taken.data);
      } else {
        sink.failed(taken);
      }
    }
    return delivered;
  }

  /** Serves the transfers that wait for a poll of this queue. */
  private void attend() {
    network.enter();
    try {
      attention = false;
      for (int i = 0; i < endpoints.size(); i++) {
        endpoints.get(i).serveInbox();
      }
      for (int n = waiting.size(); n > 0 && hasRoom(); n--) {
        Transfer transfer = waiting.removeFirst();
        transfer.scheduled--;
        network.engine().run(Stage.ANNOUNCE, transfer);
        network.engine().settle(transfer);
      }
      attention |= !waiting.isEmpty();
    } finally {
      network.exit();
    }
  }

  // The methods below are called under the network's lock.

  void callForAttention() {
    attention = true;
  }

  /** Whether there is space for an arrival or another post. */
  boolean hasRoom() {
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
  void fillFor(long nanos) {
    fullUntil = Math.max(fullUntil, network.clock().nanoTime() + nanos);
  }

  /** Lets an arrival wait for space. */
  void await(Transfer transfer) {
    transfer.scheduled++;
    waiting.addLast(transfer);
    attention = true;
  }

  void overrun() {
    overrun = true;
    life.history().add("overrun, completions", ring.size());
  }

  boolean isBusy(int context) {
    return busy.get(context);
  }

  void take(int context) {
    busy.set(context);
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

  void bind(SimulatedEndpoint endpoint) {
    if (!endpoints.contains(endpoint)) {
      endpoints.add(endpoint);
      life.addUser(endpoint.life());
    }
  }

  void unbind(SimulatedEndpoint endpoint) {
    if (endpoints.remove(endpoint)) {
      life.removeUser(endpoint.life());
    }
    for (int n = waiting.size(); n > 0; n--) {
      Transfer transfer = waiting.removeFirst();
      if (transfer.target == endpoint) {
        transfer.scheduled--;
        network.engine().settle(transfer);
      } else {
        waiting.addLast(transfer);
      }
    }
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

  @Override
  public void close() {
    guard.enter("fi_close");
    network.enter();
    try {
      if (!life.isOpen()) {
        return;
      }
      life.requireUnused(Rule.CLOSE_ORDER, "fi_close");
      domain.life().removeUser(life);
      life.close();
    } finally {
      network.exit();
      guard.exit();
    }
  }
}
