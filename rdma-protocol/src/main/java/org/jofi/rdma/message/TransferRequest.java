package org.jofi.rdma.message;

import java.util.Objects;
import org.jofi.fabric.PostFlags;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.endpoint.InlineCopies;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.transport.RemoteMemory;
import org.jspecify.annotations.Nullable;

/** A one-sided write or read. */
final class TransferRequest extends StripedRequest {
  private final OneSided oneSided;
  private final PeerLink link;
  private @Nullable RemoteMemory remote;
  private @Nullable DataRegistration registration;
  private int copy = InlineCopies.NONE;
  private boolean reads;
  private long address;
  private long remoteOffset;
  private long lengthBytes;

  TransferRequest(OneSided oneSided, int slot) {
    super(oneSided, slot);
    this.oneSided = oneSided;
    link = oneSided.link();
  }

  /** From, or into, registered memory, whose use has begun. */
  void between(
      boolean reading,
      long here,
      long length,
      DataRegistration memory,
      RemoteMemory there,
      long offset) {
    registration = memory;
    set(reading, here, length, there, offset);
  }

  /** From a copy, which it gives back. */
  void fromCopy(int entry, long length, RemoteMemory there, long offset) {
    copy = entry;
    set(false, link.endpoint().inlineCopies().address(entry), length, there, offset);
  }

  private void set(boolean reading, long here, long length, RemoteMemory there, long offset) {
    reads = reading;
    address = here;
    lengthBytes = length;
    remote = there;
    remoteOffset = offset;
  }

  @Override
  int post(int stripe) {
    RemoteMemory there = Objects.requireNonNull(remote);
    PeerRails rails = link.data();
    int rail = plan().rail(stripe);
    if (!rails.isUsable(rail)) {
      int other = rails.after(rail);
      // With none left the old one's refusal tells why.
      rail = other == PeerRails.NONE ? rail : other;
      plan().moveTo(stripe, rail);
    }
    long offset = plan().offset(stripe);
    long length = plan().length(stripe);
    long from = address + offset;
    long to = there.address(rail) + remoteOffset + offset;
    long key = there.key(rail);
    RailPort port = rails.port(rail);
    long peer = rails.peer(rail);
    return reads
        ? port.read(this, stripe, from, length, descriptor(rail), peer, to, key)
        : port.write(
            this,
            stripe,
            from,
            length,
            descriptor(rail),
            peer,
            to,
            key,
            PostFlags.DELIVERY_COMPLETE);
  }

  private long descriptor(int rail) {
    DataRegistration memory = registration;
    return memory == null
        ? link.endpoint().inlineCopies().descriptor(copy, rail)
        : memory.descriptor(rail);
  }

  @Override
  RailPort port(int stripe) {
    return link.data().port(plan().rail(stripe));
  }

  @Override
  String operation() {
    return reads ? "fi_read" : "fi_write";
  }

  /** What came back tells of the peer, too. */
  @Override
  public void completed(long cookie, long bytes) {
    oneSided.hear();
    super.completed(cookie, bytes);
  }

  @Override
  protected String where() {
    return "%s of %d bytes at offset %d of the memory of %s"
        .formatted(reads ? "iread" : "iwrite", lengthBytes, remoteOffset, link.describePeer());
  }

  @Override
  protected long movedBytes() {
    return lengthBytes;
  }

  @Override
  protected void endUse() {
    remote = null;
    DataRegistration memory = registration;
    if (memory != null) {
      registration = null;
      memory.endUse();
    }
    if (copy != InlineCopies.NONE) {
      link.endpoint().inlineCopies().give(copy);
      copy = InlineCopies.NONE;
    }
  }
}
