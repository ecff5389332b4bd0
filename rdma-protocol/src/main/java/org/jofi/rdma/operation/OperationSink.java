package org.jofi.rdma.operation;

import java.util.List;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.transport.Failure;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/**
 * Where the engine puts its operations for one peer. The driver behind it posts them, tries again
 * what a provider did not take, and chooses the rails.
 */
public interface OperationSink {
  /** What a read of this side's own memory reads at most on a rail. */
  int OWN_READ_BYTES = 64;

  /** The longest copy of {@link #copyInline}. */
  int INLINE_BYTES = 512;

  EndpointContext endpoint();

  RailStatus rail(int rail);

  /** Whom it leads to: all connections to a peer share that. */
  PeerControl peer();

  /** A new transfer over the data rails, which its owner uses again and again. */
  Transfer overData(TransferListener listener);

  /** A new transfer over the control rails, which its owner uses again and again. */
  Transfer overControl(TransferListener listener);

  /**
   * Whether transfers over the control rails may be lost that were done: those that did not
   * complete on delivery. True once for each time.
   */
  boolean takeControlLoss();

  /**
   * Whether all transfers over the control rails that were done have arrived, or may be lost. Asks
   * the peer where that is not known.
   */
  boolean isControlWritten();

  /** A buffer for a message to it; null if so many are on their way that there is none. */
  @Nullable Packet takePacket();

  /**
   * Copies bytes.
   *
   * @param address first byte, in host memory, not 0. It is trusted: memory that is not there ends
   *     the process
   * @param lengthBytes 1 to {@link #INLINE_BYTES}
   * @return null if all copies are on their way
   * @throws org.jofi.mr.registration.RegistrationException if memory is needed and a rail refuses
   *     it
   */
  @Nullable InlineCopy copyInline(long address, int lengthBytes);

  /** Why no read of this side's own memory can be posted; null if it can. */
  @Nullable Failure ownReadRefusal();

  /** Whether every control rail to the peer was given up. */
  boolean isControlLost();

  /** Where the peer is reached on its control rails. */
  List<FabricAddress> peerAddresses();

  /** Its connection is over, and posts nothing more. A second call does nothing. */
  void release();
}
