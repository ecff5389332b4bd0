package org.jofi.rdma.driver;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;
import org.jofi.rdma.memory.RegisteredBuffers;
import org.jofi.rdma.operation.AddressSpace;
import org.jofi.rdma.operation.EndpointContext;
import org.jofi.rdma.operation.InlineCopy;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.PeerControl;
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
  private final Peer peer;
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
    peer = driver.peers.to(addresses);
    control = peer.control;
    written = new long[control.count()];
    losses = control.unanswered.losses;
  }

  @Override
  public EndpointContext endpoint() {
    return driver.context;
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
  public Transfer overData(TransferListener listener) {
    return new DataTransfer(peer, listener);
  }

  @Override
  public Transfer overControl(TransferListener listener) {
    return new ControlTransfer(control, written, listener);
  }

  @Override
  public boolean takeControlLoss() {
    int before = losses;
    losses = control.unanswered.losses;
    return losses != before;
  }

  @Override
  public boolean isControlWritten() {
    return control.unanswered.areKnown(written);
  }

  @Override
  public @Nullable Packet takePacket() {
    OutgoingMessage free = outgoing.free.pollLast();
    if (free == null) {
      return outgoing.take(control);
    }
    free.rails = control;
    return free;
  }

  @Override
  public @Nullable InlineCopy copyInline(long address, int lengthBytes) {
    RegisteredBuffers.Buffer copy = driver.copies.take();
    if (copy != null) {
      MemorySegment.copy(AddressSpace.ALL, address, copy.memory(), 0, lengthBytes);
    }
    return copy;
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
  public List<FabricAddress> peerAddresses() {
    return IntStream.range(0, control.count())
        .mapToObj(rail -> control.rail(rail).address)
        .toList();
  }

  @Override
  public void release() {
    if (!released) {
      released = true;
      driver.peers.leave(peer);
    }
  }
}
