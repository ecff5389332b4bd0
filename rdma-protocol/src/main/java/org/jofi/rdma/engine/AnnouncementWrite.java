package org.jofi.rdma.engine;

import java.util.Arrays;
import java.util.StringJoiner;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * One write of the entries of receives into the sender's mailbox, one entry after the other, but
 * for the end of the ring. Each of the receives has it under way until it is over. Used again.
 *
 * <p>A receive that fails takes what was not posted with it: a failed message fails the others,
 * too.
 *
 * <p>Over several sockets it is not told whether entries arrived, but the peer shows that it has
 * seen them. So the receives are done with it once its bytes left, and it is <em>unseen</em> until
 * then: its entries are not used for others, and are written again if a rail was lost.
 */
final class AnnouncementWrite implements TransferListener {
  private final AnnouncementQueue home;
  private final Transfer transfer;
  private @Nullable PostedReceive[] receives = new @Nullable PostedReceive[1];
  private int count;
  private boolean inUse;
  private long first;
  private int entries;
  private boolean isRepeated;

  /** Parts that left, of which nothing more is known. */
  private int left;

  private boolean unseen;
  private boolean mayBeSeenElsewhere;

  AnnouncementWrite(AnnouncementQueue home, PeerLink link) {
    this.home = home;
    transfer = link.sink().overControl(this);
  }

  /** Begins anew, without a receive. */
  void begin(Announcer announcer) {
    announcer.begin(transfer);
    entries = 0;
    isRepeated = false;
    left = 0;
    unseen = false;
    mayBeSeenElsewhere = false;
    inUse = true;
  }

  /** Whether a receive's entries come after those that it has, or would be its first. */
  boolean takes(PostedReceive receive) {
    return entries == 0 || receive.index() == first + entries;
  }

  /** Adds a receive, whose entries are in the copy of the mailbox. */
  void add(PostedReceive receive) {
    if (entries == 0) {
      first = receive.index();
    }
    if (count == receives.length) {
      receives = Arrays.copyOf(receives, 2 * count);
    }
    receives[count++] = receive;
    entries += receive.indices();
    receive.joined(this);
  }

  /** It is of entries that the peer lacks, although they were written once. */
  void repeat(PostedReceive receive) {
    add(receive);
    isRepeated = true;
  }

  /** The same, of an entry whose receive is over. */
  void repeat(long index) {
    first = index;
    entries = 1;
    isRepeated = true;
  }

  /** Posts it, now or when a rail takes it. */
  void submit(Announcer announcer, PeerLink link) {
    int before = entriesOf(0);
    announcer.place(transfer, 0, first, before);
    if (before < entries) {
      announcer.place(transfer, 1, first + before, entries - before);
    }
    if (isRepeated) {
      transfer.completeOnDelivery(transfer.all());
    } else {
      transfer.mayBeToldLate();
    }
    transfer.add(transfer.all());
    link.submit(transfer);
  }

  private int entriesOf(int part) {
    int before = MailboxLayout.beforeEnd(first, entries);
    return part == 0 ? before : entries - before;
  }

  /** Whether something of it was not taken by a rail yet. */
  boolean isWaiting() {
    return transfer.toPost() != 0;
  }

  /** Whether a provider took any of it. */
  boolean wasPosted() {
    return transfer.wasPosted();
  }

  /** What is not posted yet is not to be. */
  void drop() {
    home.closed(this);
    int dropped = transfer.withdraw();
    assert dropped >= 0;
    look();
  }

  /** The first receive of which it has an entry. */
  long first() {
    return first;
  }

  /** The last receive of which it has an entry. */
  long last() {
    return first + entries - 1;
  }

  /** Its entries, or some of them, are written once more: seeing them says nothing of its rail. */
  void writtenElsewhere() {
    mayBeSeenElsewhere = true;
  }

  /** Whether any of it left, and nothing more is known. */
  boolean hasLeft() {
    return left != 0;
  }

  /** The peer has seen its entries. */
  void seen() {
    transfer.arrived(left, !mayBeSeenElsewhere);
  }

  /** Asks whether its entries arrived. */
  void ask() {
    transfer.ask();
  }

  @Override
  public void left(Transfer of, int part) {
    left |= 1 << part;
    look();
  }

  @Override
  public void completed(Transfer of, int part) {
    left &= ~(1 << part);
    if (!isRepeated) {
      home.written(entriesOf(part));
    }
    look();
  }

  /**
   * The same bytes go to the same entries, which no other receive has before these are over. They
   * complete when they have landed, so that they cannot land on the entries of later receives.
   */
  @Override
  public boolean failed(Transfer of, int part, Failure why, Certainty certainty, boolean railLeft) {
    left &= ~(1 << part);
    if (railLeft && isWanted()) {
      of.completeOnDelivery(1 << part);
      return true;
    }
    for (int i = 0; i < count; i++) {
      PostedReceive receive = receives[i];
      if (receive != null) {
        receive.fail(why);
      }
    }
    if (unseen) {
      home.lost(why);
    }
    look();
    return false;
  }

  /** It never comes back, and may happen yet, so that nothing can be posted in its place. */
  @Override
  public void lost(Transfer of, int part, Failure why) {
    if (hasNoReceive()) {
      home.lost(why);
    }
    for (int i = 0; i < count; i++) {
      PostedReceive receive = receives[i];
      if (receive != null) {
        receive.request().expire(why);
      }
    }
  }

  private boolean isWanted() {
    if (hasNoReceive()) {
      return !home.hasFailed();
    }
    for (int i = 0; i < count; i++) {
      PostedReceive receive = receives[i];
      if (receive != null && receive.isLive()) {
        return true;
      }
    }
    return false;
  }

  /** Whether no receive waits for it. */
  private boolean hasNoReceive() {
    return unseen || (isRepeated && count == 0);
  }

  /** Whether all of it left, or is back. */
  private void look() {
    if (!inUse || transfer.toPost() != 0 || (transfer.inFlight() & ~left) != 0) {
      return;
    }
    if (left != 0) {
      if (!unseen) {
        unseen = true;
        home.left(this);
        giveBackReceives();
      }
      return;
    }
    inUse = false;
    boolean alone = isRepeated && count == 0;
    giveBackReceives();
    home.give(this, alone);
  }

  /** Its receives are done with it. */
  private void giveBackReceives() {
    int ended = count;
    count = 0;
    for (int i = 0; i < ended; i++) {
      PostedReceive receive = receives[i];
      if (receive != null) {
        receive.entriesBack(wasPosted());
      }
    }
    for (int i = 0; i < ended; i++) {
      PostedReceive receive = receives[i];
      receives[i] = null;
      if (receive != null) {
        receive.request().settle();
      }
    }
  }

  /** For errors: what it waits for. */
  String missing() {
    StringJoiner text = new StringJoiner("; ");
    for (int part = 0; part < transfer.stripes(); part++) {
      if (transfer.isUnderWay(part)) {
        text.add(
            "its entries, %s on %s"
                .formatted(
                    transfer.isToBePosted(part) ? "not taken" : "not completed",
                    transfer.railLabel(part)));
      }
    }
    return text.length() == 0 ? "its entries, not written yet" : text.toString();
  }
}
