package org.jofi.rdma.onesided;

import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.operation.InlineCopy;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.StripedRequest;
import org.jofi.transport.RemoteMemory;
import org.jspecify.annotations.Nullable;

/** A one-sided write or read. */
final class OneSidedTransfer extends StripedRequest {
  private final OneSided oneSided;

  /** What is written inline, which it gives back; null if its memory is registered. */
  @Nullable InlineCopy copy;

  private boolean reads;
  private long remoteOffset;

  OneSidedTransfer(OneSided oneSided, Request request) {
    super(request, oneSided.link.sink);
    this.oneSided = oneSided;
  }

  /**
   * Sets what is moved, and where; its lease, or the {@link #copy}, is set apart.
   *
   * @param memory of this side, whose use has begun
   */
  void set(
      boolean reading,
      long here,
      long length,
      Descriptors memory,
      RemoteMemory there,
      long offset) {
    reads = reading;
    lengthBytes = length;
    remoteOffset = offset;
    transfer.begin(reading ? Transfer.Kind.READ : Transfer.Kind.WRITE, here, memory);
    for (int rail = 0; rail < there.rails(); rail++) {
      transfer.remote(rail, there.address(rail) + offset, there.key(rail));
    }
    transfer.spread(length);
    // A key that the peer withdrew, for example.
    transfer.failAlone();
    transfer.completeOnDelivery(-1);
  }

  /** What came back tells of the peer, too. */
  @Override
  public void completed(Transfer of, int stripe) {
    oneSided.link.heard = true;
    super.completed(of, stripe);
  }

  @Override
  public String where() {
    return "%s of %d bytes at offset %d of the memory of %s"
        .formatted(
            reads ? "iread" : "iwrite", lengthBytes, remoteOffset, oneSided.link.describePeer());
  }

  @Override
  public void endUse() {
    super.endUse();
    InlineCopy bytes = copy;
    if (bytes != null) {
      copy = null;
      bytes.give();
    }
  }
}
