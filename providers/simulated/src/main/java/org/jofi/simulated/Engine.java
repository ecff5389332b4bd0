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
    // To compare all that was sent is dear: where nobody would be told it is left out.
    this.comparesSources = network.clock().isVirtual() || network.contracts().throwing();
  }

  /** Carries out what is due for a transfer. */
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

  /** Takes a transfer back if nothing more is due for it. */
  void settle(Transfer transfer) {
    if (transfer.live && transfer.scheduled == 0) {
      if (!transfer.completed) {
        // Its initiator is gone, or died: nobody is told.
        over(transfer);
      }
      network.transfers().give(transfer);
    }
  }

  /** Lets a transfer go on at that time. */
  void at(long time, Stage stage, Transfer transfer) {
    network.events().add(time, stage, transfer);
  }

  /** The initiator shall be told at that time, unless it will be already. */
  void completeAt(long time, Transfer transfer) {
    if (!transfer.completing) {
      transfer.completing = true;
      at(time, Stage.COMPLETE, transfer);
    }
  }

  /** The initiator shall be told of an error, unless it will be told of success already. */
  void failAt(long time, Transfer transfer, int errno, int providerErrno) {
    if (!transfer.completing) {
      transfer.fail(errno, providerErrno);
      completeAt(time, transfer);
    }
  }

  /** Something that a served transfer needs is gone: the initiator is told what. */
  void failUnserved(Transfer transfer) {
    long now = network.clock().nanoTime();
    SimulatedNic from = transfer.initiator().nic();
    SimulatedEndpoint target = transfer.target;
    ErrorCodes errors = from.profile().errors();
    // A read whose data is under way needs the target no more.
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

  /** What waited for a poll is served. */
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

  /** A NIC or a host died: what waits there for a poll that never comes, or is too late, fails. */
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

  /** An endpoint closed: what it posted is dropped, what was for it fails. */
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

  /** The source must still be what the NIC read: fi_msg(3). */
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
