package org.jofi.rdma.message;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.fabric.PostFlags;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.endpoint.OperationOwner;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.rdma.wire.MailboxWriter;

/** Writes entries of receives into the sender's mailbox, from this side's copy of it. */
final class Announcer {
  private final PeerLink link;
  private final MailboxLayout layout;
  private final MemorySegment copy;
  private final LocalRegistration copyRegistration;
  private final MailboxWriter entries;
  private final List<MailboxTarget> targets;
  private final long entryFlags;

  /** A receive has one write for each chunk; what the peer waits for is the first. */
  private final long chunkFlags;

  /**
   * @param copy this side's copy of the mailbox
   * @param copyRegistration of the copy, on the control rails
   * @param targets the sender's mailbox, per control rail
   */
  Announcer(
      PeerLink link,
      MemorySegment copy,
      LocalRegistration copyRegistration,
      List<MailboxTarget> targets) {
    this.link = link;
    this.copy = copy;
    this.copyRegistration = copyRegistration;
    this.targets = List.copyOf(targets);
    layout = new MailboxLayout(link.endpoint().dataCount());
    entries = new MailboxWriter(copy, layout, link.id().toGeneration());
    entryFlags = delivered(link.endpoint().traits().smallWritesNeedDelivery());
    chunkFlags = delivered(link.writesMayBeOnTheirWay());
  }

  /** Flags of a write: whether it completes only when the peer has it. */
  private static long delivered(boolean wanted) {
    return wanted ? PostFlags.DELIVERY_COMPLETE : PostFlags.NONE;
  }

  /** Puts a receive into the copy. */
  void put(long index, long address, long lengthBytes, int tag, DataRegistration memory) {
    entries.put(index, memory.remoteAddress(0, address), lengthBytes, tag);
    seal(index, memory);
  }

  private void seal(long index, DataRegistration memory) {
    for (int rail = 0; rail < layout.dataRails(); rail++) {
      entries.putKey(index, rail, memory.key(rail));
    }
    entries.seal(index);
  }

  /**
   * Writes entries that are in the copy, one after the other: 0, or a negative errno.
   *
   * @param again whether an earlier write of them failed: this one completes when it has landed, so
   *     that it cannot land on the entries of later receives
   */
  int write(OperationOwner who, long cookie, int rail, long index, int count, boolean again) {
    return write(who, cookie, rail, index, count, again ? PostFlags.DELIVERY_COMPLETE : entryFlags);
  }

  private int write(OperationOwner who, long cookie, int rail, long index, int count, long flags) {
    PeerRails rails = link.control();
    MailboxTarget target = targets.get(rail);
    int at = layout.entryOffset(index);
    return rails
        .port(rail)
        .write(
            who,
            cookie,
            copy.address() + at,
            (long) count * layout.entryBytes(),
            copyRegistration.descriptor(rail),
            rails.peer(rail),
            target.address() + at,
            target.key(),
            flags);
  }

  /**
   * Writes the offer of a chunk of a staged receive: 0, or a negative errno.
   *
   * @param index of the receive
   * @param count its entries
   * @param lengthBytes of the whole receive
   */
  int offer(
      OperationOwner who,
      long cookie,
      int rail,
      long index,
      int count,
      long chunk,
      StagingRing ring,
      long lengthBytes,
      int tag,
      int shift) {
    DataRegistration memory = ring.registration();
    long block = memory.remoteAddress(0, ring.block(chunk));
    long entry = entries.putChunk(index, count, chunk, block, lengthBytes, tag, shift);
    seal(entry, memory);
    return write(who, cookie, rail, entry, 1, chunkFlags);
  }
}
