package org.jofi.rdma.engine;

import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.transport.Failure;

/**
 * One write of entries into the sender's mailbox, one after the other but for the end of the ring.
 * Used again.
 */
final class AnnouncementWrite implements TransferListener {
  private final AnnouncementQueue home;
  private final Transfer transfer;
  private long first;
  private int entries;
  private boolean isRepeated;
  private boolean inUse;

  AnnouncementWrite(AnnouncementQueue home, PeerLink link) {
    this.home = home;
    transfer = link.sink.overControl(this);
  }

  /**
   * Posts entries, now or when a rail takes them.
   *
   * @param repeats whether they were written before. They complete on delivery then, so that they
   *     cannot land on the entries of later receives
   */
  void submit(PeerLink link, long from, int count, boolean repeats) {
    first = from;
    entries = count;
    isRepeated = repeats;
    inUse = true;
    home.begin(transfer);
    int before = entriesOf(0);
    place(first, before);
    if (before < entries) {
      place(first + before, entries - before);
    }
    if (repeats || home.oneAtATime) {
      transfer.completeOnDelivery(-1);
    }
    link.submit(transfer);
  }

  private void place(long index, int count) {
    MailboxLayout layout = home.layout;
    transfer.place(
        Transfer.ANY_RAIL, layout.entryOffset(index), (long) count * layout.entryBytes());
  }

  private int entriesOf(int part) {
    int before = MailboxLayout.beforeEnd(first, entries);
    return part == 0 ? before : entries - before;
  }

  /** Whether something of it was not taken by a rail yet. */
  boolean isWaiting() {
    return transfer.in(Transfer.State.TO_POST) != 0;
  }

  boolean wasPosted() {
    return transfer.wasPosted();
  }

  void drop() {
    transfer.cancel();
    giveBack();
  }

  long first() {
    return first;
  }

  long last() {
    return first + entries - 1;
  }

  @Override
  public void completed(Transfer of, int part) {
    if (!isRepeated) {
      home.entries += entriesOf(part);
    }
    giveBack();
  }

  /** The same bytes go to the same entries, which no other receive has before it is back. */
  @Override
  public boolean failed(Transfer of, int part, Failure why, Certainty certainty, boolean railLeft) {
    if (railLeft && !home.stopped) {
      of.completeOnDelivery(1 << part);
      return true;
    }
    home.fail(why);
    giveBack();
    return false;
  }

  /** It never comes back, and may happen yet, so that nothing can be posted in its place. */
  @Override
  public void lost(Transfer of, int part, Failure why) {
    home.fail(why);
  }

  private void giveBack() {
    if (inUse && !transfer.isOut()) {
      inUse = false;
      home.back(this);
    }
  }
}
