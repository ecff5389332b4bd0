package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.rdma.wire.MailboxWriter;

/** Writes entries of receives into the sender's mailbox, from this side's copy of it. */
final class Announcer {
  private final MailboxLayout layout;
  private final MemorySegment copy;
  private final Descriptors copyRegistration;
  private final MailboxWriter entries;
  private final List<MailboxTarget> targets;
  private final boolean entriesDelivered;

  /** A chunk's offer is written once, and nothing but its completion tells that it arrived. */
  private final boolean chunksDelivered;

  /**
   * @param copy this side's copy of the mailbox
   * @param copyRegistration of the copy, on the control rails
   * @param targets the sender's mailbox, per control rail
   */
  Announcer(
      PeerLink link,
      MemorySegment copy,
      Descriptors copyRegistration,
      List<MailboxTarget> targets) {
    this.copy = copy;
    this.copyRegistration = copyRegistration;
    this.targets = List.copyOf(targets);
    layout = new MailboxLayout(link.sink().dataRails());
    entries = new MailboxWriter(copy, layout, link.id().toGeneration());
    entriesDelivered = link.sink().smallWritesNeedDelivery();
    chunksDelivered = !link.sink().completionMeansDelivered();
  }

  void begin(Transfer transfer) {
    transfer.begin(Transfer.Kind.WRITE, copy.address(), copyRegistration);
    for (int rail = 0; rail < targets.size(); rail++) {
      MailboxTarget target = targets.get(rail);
      transfer.remote(rail, target.address(), target.key());
    }
  }

  /**
   * Puts a receive into the copy.
   *
   * @param handled the low byte of how many short messages were handled by now
   */
  void put(
      long index, long address, long lengthBytes, int tag, DataRegistration memory, int handled) {
    entries.put(index, memory.remoteAddress(0, address), lengthBytes, tag);
    seal(index, memory, handled);
  }

  private void seal(long index, DataRegistration memory, int handled) {
    for (int rail = 0; rail < layout.dataRails(); rail++) {
      entries.putKey(index, rail, memory.key(rail));
    }
    entries.seal(index, handled);
  }

  /** A part of a transfer writes entries that are in the copy, one after the other. */
  void place(Transfer transfer, int part, long index, int count) {
    transfer.part(part, layout.entryOffset(index), (long) count * layout.entryBytes());
    if (entriesDelivered) {
      transfer.completeOnDelivery(1 << part);
    }
  }

  /**
   * Puts the offer of a chunk of a staged receive into the copy; a part of a transfer writes it.
   *
   * @param index of the receive
   * @param count its entries
   * @param lengthBytes of the whole receive
   * @param handled as for {@link #put}
   */
  void offer(
      Transfer transfer,
      int part,
      long index,
      int count,
      long chunk,
      StagingRing ring,
      long lengthBytes,
      int tag,
      int shift,
      int handled) {
    DataRegistration memory = ring.registration();
    long block = memory.remoteAddress(0, ring.block(chunk));
    long entry = entries.putChunk(index, count, chunk, block, lengthBytes, tag, shift);
    seal(entry, memory, handled);
    placeOffer(transfer, part, entry);
  }

  /** A part of a transfer writes the offer of a chunk that is in the copy. */
  void placeOffer(Transfer transfer, int part, long entry) {
    transfer.part(part, layout.entryOffset(entry), layout.entryBytes());
    if (chunksDelivered) {
      transfer.completeOnDelivery(1 << part);
    }
  }
}
