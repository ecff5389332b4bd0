package org.jofi.rdma.driver;

import java.util.List;
import java.util.stream.IntStream;
import org.jofi.rdma.nic.InlineCopies;
import org.jofi.rdma.operation.ArrivalBudget;
import org.jofi.rdma.operation.InlineCopy;
import org.jofi.rdma.operation.MemoryCopier;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.PeerControl;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.transport.Failure;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/** The way from an endpoint to one peer: the data rails and the control rails. */
final class Path implements OperationSink {
  private final EndpointDriver driver;
  private final OutgoingMessages outgoing;
  private final Tasks tasks;
  private final Peer peer;
  private final PeerRails data;
  private final PeerRails control;
  private boolean released;

  /** Of each control rail: what was written over it last that does not tell of its arrival. */
  private final long[] written;

  private int losses;

  /** As {@link EndpointDriver#path}. */
  Path(EndpointDriver driver, RailAddresses addresses) {
    if (addresses.data().size() != driver.dataCount()
        || addresses.control().size() != driver.controlCount()) {
      throw new IllegalArgumentException(
          "%s has %d data and %d control rails, its peer %d and %d: use the same on both sides"
              .formatted(
                  driver.label(),
                  driver.dataCount(),
                  driver.controlCount(),
                  addresses.data().size(),
                  addresses.control().size()));
    }
    this.driver = driver;
    outgoing = driver.outgoing;
    tasks = driver.tasks;
    peer = driver.peers.to(addresses);
    data = peer.data;
    control = peer.control;
    written = new long[control.count()];
    losses = control.unanswered.losses();
  }

  @Override
  public int dataRails() {
    return data.count();
  }

  @Override
  public RailStatus rail(int rail) {
    return peer.status(rail);
  }

  @Override
  public PeerControl peer() {
    return peer;
  }

  @Override
  public int controlRails() {
    return control.count();
  }

  @Override
  public Tasks tasks() {
    return tasks;
  }

  @Override
  public ArrivalBudget budget() {
    return driver.budget;
  }

  @Override
  public Transfer overData(TransferListener listener) {
    return new DataTransfer(peer, driver.landing, listener);
  }

  @Override
  public Transfer overControl(TransferListener listener) {
    return new ControlTransfer(control, written, listener);
  }

  @Override
  public boolean takeControlLoss() {
    int before = losses;
    losses = control.unanswered.losses();
    return losses != before;
  }

  @Override
  public boolean isControlWritten() {
    return control.unanswered.areKnown(written);
  }

  @Override
  public int packetBytes() {
    return driver.packetBytes;
  }

  @Override
  public MemoryCopier copier() {
    return driver.copier;
  }

  @Override
  public @Nullable Packet takePacket() {
    return outgoing.take(control);
  }

  @Override
  public @Nullable InlineCopy copyInline(long address, int lengthBytes) {
    return driver.inlineCopies().take(address, lengthBytes);
  }

  @Override
  public int inlineBytes() {
    return InlineCopies.BYTES;
  }

  @Override
  public @Nullable Failure ownReadRefusal() {
    return driver.landing.refusal();
  }

  @Override
  public boolean isControlLost() {
    return control.isLost();
  }

  @Override
  public boolean smallWritesNeedDelivery() {
    return driver.traits().smallWritesNeedDelivery();
  }

  @Override
  public boolean completionMeansDelivered() {
    return driver.traits().completionMeansDelivered();
  }

  @Override
  public List<FabricAddress> peerAddresses() {
    return IntStream.range(0, control.count())
        .mapToObj(rail -> control.rail(rail).address())
        .toList();
  }

  @Override
  public void release() {
    if (!released) {
      released = true;
      driver.peers.leave(peer);
    }
  }

  @Override
  public String label() {
    return driver.label();
  }
}
