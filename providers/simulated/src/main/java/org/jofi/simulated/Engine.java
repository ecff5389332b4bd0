package org.jofi.simulated;

import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.FabricErrno;

/** Carries transfers from stage to stage. Under the network's lock. */
final class Engine {
  private final Network network;
  private final Departures departures;
  private final Arrivals arrivals;
  private final Landings landings;
  private final boolean comparesSources;

  Engine(Network network) {
    this.network = network;
    this.departures = new Departures(network, this);
    this.arrivals = new Arrivals(network, this);
    this.landings = new Landings(network, this);
    // Comparing all data that was sent is expensive, so it is done only if a violation would be
    // reported.
    this.comparesSources = network.clock().isVirtual() || network.contracts().throwing();
  }

  /** Runs a stage that is due for a transfer. */
  void run(Stage stage, Transfer transfer) {
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
      network.transfers().give(transfer);
    }
  }

  /** Schedules the next stage of a transfer. */
  void at(long time, Stage stage, Transfer transfer) {
    network.events().add(time, stage, transfer);
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
    SimulatedNic from = transfer.initiator().nic();
    SimulatedEndpoint target = transfer.target;
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

  /** Serves a transfer that waited for a poll of the target. */
  void serve(Transfer transfer) {
    arrivals.serve(transfer);
  }

  /** A receive was posted. */
  void receive(SimulatedEndpoint endpoint, PostedReceive receive) {
    arrivals.posted(endpoint, receive);
  }

  /** A receive was cancelled. */
  void cancelled(SimulatedEndpoint endpoint, PostedReceive receive) {
    int context = receive.context;
    endpoint.receives().give(receive);
    endpoint
        .receiveQueue()
        .add(
            context,
            CompletionFlags.MSG | CompletionFlags.RECV,
            0,
            0,
            FabricErrno.ECANCELED,
            FabricErrno.ECANCELED,
            0);
  }

  /** Called when a NIC or a host died: transfers that wait there for a poll fail. */
  void died() {
    network.forEachEndpoint(
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

  private void failInbox(SimulatedEndpoint endpoint, long time, int errno, int providerErrno) {
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
  void closed(SimulatedEndpoint endpoint) {
    for (PostedReceive receive : endpoint.receives().posted()) {
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
    network.transfers().forEachLive(transfer -> drop(endpoint, transfer));
  }

  private void drop(SimulatedEndpoint endpoint, Transfer transfer) {
    if (transfer.source == endpoint && !transfer.dropped) {
      transfer.dropped = true;
      over(transfer);
    }
    PostedReceive receive = transfer.receive;
    if (transfer.target == endpoint && receive != null && !transfer.announced) {
      transfer.announced = true;
      transfer.receive = null;
      endpoint.receives().give(receive);
    }
  }

  private void complete(Transfer transfer) {
    if (transfer.completed) {
      return;
    }
    SimulatedEndpoint source = transfer.initiator();
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
  private void requireStable(Transfer transfer, SimulatedEndpoint source) {
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
}
