package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.request.PeerLink;
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

  Announcer(
      PeerLink link,
      MemorySegment copy,
      Descriptors copyRegistration,
      List<MailboxTarget> targets) {
    this.copy = copy;
    this.copyRegistration = copyRegistration;
    this.targets = List.copyOf(targets);
    layout = new MailboxLayout(link.endpoint.dataRails());
    entries = new MailboxWriter(copy, layout, link.id.toGeneration());
    entriesDelivered = link.endpoint.smallWritesNeedDelivery();
  }

  void begin(Transfer transfer) {
    transfer.begin(Transfer.Kind.WRITE, copy.address(), copyRegistration);
    for (int rail = 0; rail < targets.size(); rail++) {
      MailboxTarget target = targets.get(rail);
      transfer.remote(rail, target.address(), target.key());
    }
  }

  /** Puts a receive into the copy; of what was handled, the low byte counts. */
  void put(long index, long address, long length, int tag, DataRegistration memory, int handled) {
    entries.put(index, memory.remoteAddress(0, address), length, tag);
    for (int rail = 0; rail < layout.dataRails(); rail++) {
      entries.putKey(index, rail, memory.key(rail));
    }
    entries.seal(index, handled);
  }

  /** The next part of a transfer writes entries that are in the copy, one after the other. */
  void place(Transfer transfer, long index, int count) {
    int part =
        transfer.place(
            Transfer.ANY_RAIL, layout.entryOffset(index), (long) count * layout.entryBytes());
    if (entriesDelivered) {
      transfer.completeOnDelivery(1 << part);
    }
  }
}
