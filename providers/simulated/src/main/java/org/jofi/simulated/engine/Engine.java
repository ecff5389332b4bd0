package org.jofi.simulated.engine;

import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.memory.ProcessMemory;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.profile.ErrorCodes;
import org.jofi.simulated.registration.RegisteredMemory;
import org.jofi.simulated.trace.TraceKind;
import org.jspecify.annotations.Nullable;

/** Carries transfers from stage to stage. Under the network's lock. */
public final class Engine {
  private final Network network;
  private final EventQueue events = new EventQueue();
  private final Transfers transfers;
  private final Long2ObjectHashMap<QueuePair> endpoints = new Long2ObjectHashMap<>();
  private final Departures departures;
  private final Arrivals arrivals;
  private final Landings landings;
  private final boolean comparesSources;

  /** The engine of a network, which needs one. */
  public Engine(Network network) {
    this.network = network;
    this.transfers = new Transfers(network.staging());
    this.departures = new Departures(network, this);
    this.arrivals = new Arrivals(network, this);
    this.landings = new Landings(network, this);
    // Comparing all data that was sent is expensive, so it is done only if a violation would be
    // reported.
    this.comparesSources = network.clock().isVirtual() || network.contracts().throwing();
  }

  /** The network that it drives. */
  public Network network() {
    return network;
  }

  EventQueue events() {
    return events;
  }

  Transfers transfers() {
    return transfers;
  }

  /** How many operations were posted so far. */
  public long posted() {
    return transfers.posted();
  }

  /** Whether nothing is scheduled. */
  public boolean isQuiet() {
    return events.size() == 0;
  }

  /** When something is due next. Any thread. */
  public long nextDue() {
    return events.nextDue();
  }

  /** Adds an endpoint, which can be reached from then on. */
  public void opened(QueuePair endpoint) {
    endpoints.put(endpoint.address(), endpoint);
  }

  @Nullable QueuePair endpoint(long address) {
    return endpoints.get(address);
  }

  /**
   * Processes all events that are due. Any thread. In real time only one thread does this at a
   * time, and others return at once.
   */
  public void progress() {
    if (events.nextDue() > network.clock().nanoTime()) {
      return;
    }
    if (network.clock().isVirtual()) {
      network.enter();
    } else if (!network.tryEnter()) {
      return;
    }
    try {
      runDue();
    } finally {
      network.exit();
    }
  }

  private void runDue() {
    // Events that become due meanwhile are left to the next call, so that this one ends.
    long now = network.clock().nanoTime();
    for (Event event = events.takeDue(now); event != null; event = events.takeDue(now)) {
      Transfer transfer = event.transfer;
      Stage stage = event.stage;
      long order = event.order;
      events.recycle(event);
      if (transfer != null) {
        transfer.order = order;
        transfer.scheduled--;
        run(stage, transfer);
        settle(transfer);
      }
    }
  }

  /** Takes a transfer from the pool, to be filled in and {@link #start started}. */
  public Transfer transfer() {
    return transfers.take();
  }

  /** Posts a transfer: its NIC takes it up after a while. */
  public void start(Transfer transfer) {
    departures.start(transfer);
  }

  /** Runs a stage that is due for a transfer. */
  private void run(Stage stage, Transfer transfer) {
    transfer.stage = stage;
    network.trace().record(TraceKind.STAGE, transfer.serial, stage.number(), transfer.landed);
    switch (stage) {
      case DEPART -> departures.depart(transfer);
      case ARRIVE -> arrivals.arrive(transfer);
      case SAMPLE -> arrivals.sample(transfer);
      case RETURN -> landings.returned(transfer);
      case LAND -> landings.land(transfer);
      case ANNOUNCE -> landings.announce(transfer);
      case COMPLETE -> complete(transfer);
    }
  }

  /** Returns a transfer to the pool if nothing more is scheduled for it. */
  void settle(Transfer transfer) {
    if (transfer.live && transfer.scheduled == 0) {
      if (!transfer.completed) {
        // Its initiator is closed or dead, so nobody is told.
        over(transfer);
      }
      transfers.give(transfer);
    }
  }

  /** Schedules the next stage of a transfer. */
  void at(long time, Stage stage, Transfer transfer) {
    events.add(time, stage, transfer);
  }

  /** Schedules a successful completion for the initiator, unless one is scheduled already. */
  void completeAt(long time, Transfer transfer) {
    if (!transfer.completing) {
      transfer.completing = true;
      at(time, Stage.COMPLETE, transfer);
    }
  }

  /**
   * Schedules a failed completion for the initiator, unless a successful one is scheduled already.
   */
  void failAt(long time, Transfer transfer, int errno, int providerErrno) {
    if (!transfer.completing) {
      transfer.fail(errno, providerErrno);
      completeAt(time, transfer);
    }
  }

  /** Fails a transfer because something that it needs is gone; the initiator is told what. */
  void failUnserved(Transfer transfer) {
    long now = network.clock().nanoTime();
    Nic from = transfer.initiator().nic();
    QueuePair target = transfer.target;
    ErrorCodes errors = from.profile().errors();
    // A read whose data is on the way back does not need the target any more.
    if (transfer.kind == TransferKind.READ && transfer.staged != 0) {
      target = null;
    }
    if (from.isDead() || (target != null && target.nic().isDead())) {
      failAt(
          now + from.profile().behaviour().peerTimeoutNanos(),
          transfer,
          errors.unreachable(),
          errors.unreachableProvider());
    } else if (target != null && !target.life().isOpen()) {
      failAt(now, transfer, errors.peerGone(), errors.peerGoneProvider());
    } else {
      failAt(now, transfer, errors.badRegion(), errors.badRegionProvider());
    }
  }

  /** Serves the transfers that wait for a poll of this queue by one of these endpoints. */
  public void attend(CompletionStore queue, List<QueuePair> users) {
    network.enter();
    try {
      queue.beginAttention();
      for (int i = 0; i < users.size(); i++) {
        serveInbox(users.get(i));
      }
      for (int n = queue.waiting().size(); n > 0 && queue.hasRoom(); n--) {
        Transfer transfer = queue.waiting().removeFirst();
        transfer.scheduled--;
        run(Stage.ANNOUNCE, transfer);
        settle(transfer);
      }
      queue.endAttention();
    } finally {
      network.exit();
    }
  }

  private void serveInbox(QueuePair endpoint) {
    for (int n = endpoint.inbox().size(); n > 0; n--) {
      Transfer transfer = endpoint.inbox().removeFirst();
      transfer.scheduled--;
      arrivals.serve(transfer);
      settle(transfer);
    }
  }

  /** Drops the arrivals at an endpoint that wait for space in a queue. */
  public void dropWaiting(CompletionStore queue, QueuePair endpoint) {
    for (int n = queue.waiting().size(); n > 0; n--) {
      Transfer transfer = queue.waiting().removeFirst();
      if (transfer.target == endpoint) {
        transfer.scheduled--;
        settle(transfer);
      } else {
        queue.waiting().addLast(transfer);
      }
    }
  }

  /** Posts a receive. */
  public void receive(
      QueuePair endpoint,
      long into,
      long bytes,
      @Nullable RegisteredMemory region,
      long peer,
      int context) {
    arrivals.receive(endpoint, into, bytes, region, peer, context);
  }

  /** Cancels the receive with this context; returns false if none is posted. */
  public boolean cancel(QueuePair endpoint, int context) {
    return arrivals.cancel(endpoint, context);
  }

  /** Called when a NIC or a host died: transfers that wait there for a poll fail. */
  public void died() {
    endpoints
        .values()
        .forEach(
            endpoint -> {
              if (endpoint.nic().isDead()) {
                failInbox(
                    endpoint,
                    network.clock().nanoTime()
                        + endpoint.nic().profile().behaviour().peerTimeoutNanos(),
                    endpoint.nic().profile().errors().unreachable(),
                    endpoint.nic().profile().errors().unreachableProvider());
              }
            });
  }

  private void failInbox(QueuePair endpoint, long time, int errno, int providerErrno) {
    for (Transfer transfer : endpoint.inbox()) {
      transfer.scheduled--;
      failAt(time, transfer, errno, providerErrno);
      settle(transfer);
    }
    endpoint.inbox().clear();
  }

  /**
   * Called when an endpoint closed: operations that it posted are dropped, and transfers to it
   * fail.
   */
  public void closed(QueuePair endpoint) {
    endpoints.remove(endpoint.address());
    for (PostedReceive receive : endpoint.receives().posted()) {
      endpoint.receiveQueue().give(receive.context);
      endpoint.receives().give(receive);
    }
    endpoint.receives().posted().clear();
    for (Transfer message : endpoint.receives().unexpected()) {
      message.scheduled--;
      settle(message);
    }
    endpoint.receives().unexpected().clear();
    ErrorCodes errors = endpoint.nic().profile().errors();
    failInbox(endpoint, network.clock().nanoTime(), errors.peerGone(), errors.peerGoneProvider());
    transfers.forEachLive(transfer -> drop(endpoint, transfer));
  }

  private void drop(QueuePair endpoint, Transfer transfer) {
    if (transfer.source == endpoint && !transfer.dropped) {
      transfer.dropped = true;
      if (!transfer.completed) {
        endpoint.transmitQueue().give(transfer.context);
      }
      over(transfer);
    }
    PostedReceive receive = transfer.receive;
    if (transfer.target == endpoint && receive != null && !transfer.announced) {
      transfer.announced = true;
      transfer.receive = null;
      endpoint.receiveQueue().give(receive.context);
      endpoint.receives().give(receive);
    }
  }

  private void complete(Transfer transfer) {
    if (transfer.completed) {
      return;
    }
    QueuePair source = transfer.initiator();
    over(transfer);
    if (source.nic().host().isDead()) {
      return;
    }
    requireStable(transfer, source);
    if (transfer.kind != TransferKind.INJECT || transfer.errno != 0) {
      boolean told = transfer.errno == 0 && transfer.kind == TransferKind.READ;
      source
          .transmitQueue()
          .add(
              transfer.context,
              transfer.kind.flags,
              told ? transfer.length : 0,
              0,
              transfer.errno,
              transfer.providerErrno,
              0);
    }
  }

  /** The operation is over for its initiator. */
  private void over(Transfer transfer) {
    if (transfer.completed) {
      return;
    }
    transfer.completed = true;
    Flow flow = transfer.way();
    transfer.initiator().finished(transfer);
    if (transfer.departed) {
      flow.departed--;
      departures.release(flow);
    }
  }

  /** Checks that the source still has the data that the NIC read: fi_msg(3). */
  private void requireStable(Transfer transfer, QueuePair source) {
    RegisteredMemory region = transfer.localRegion;
    if (!comparesSources
        || region == null
        || transfer.staged == 0
        || transfer.injected
        || transfer.kind == TransferKind.READ
        || !region.isOpen()
        || ProcessMemory.same(transfer.localAddress, transfer.staged, transfer.length)) {
      return;
    }
    network
        .contracts()
        .discover(
            Rule.BUFFER_STABLE,
            transfer.kind.call,
            source.life().history(),
            "%d bytes posted at %d ns with slot %d changed before the completion"
                .formatted(transfer.length, transfer.postedAt, transfer.context));
  }

  /** Everything that is in flight, as text for a dump. */
  public void describe(StringBuilder text) {
    text.append("Operations in flight:\n");
    transfers.forEachLive(transfer -> transfer.describe(text));
    text.append("Endpoints and queues:\n");
    endpoints.values().forEach(endpoint -> endpoint.describe(text));
  }
}
