package org.jofi.rdma.engine;

import org.jofi.rdma.sequence.ReceiveWindow;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;

/**
 * The receives that have an index, and with it an entry in the mailbox, and what arrives for them.
 * An entry is used again once its receive is over and the sender is known to have seen it: a short
 * message may have made it useless, but the sender looks at one entry after the other.
 */
final class AnnouncedReceives extends ReceiveWindow<PostedReceive> {
  private static final long NONE_FAILED = Long.MAX_VALUE;

  private final AnnouncementQueue queue;

  /** The last receive that the sender is known to have seen. */
  private long seen;

  /** The first index of the receives that failed. */
  private long firstFailed = NONE_FAILED;

  private long stripes;
  private long immediates;
  private long dropped;

  AnnouncedReceives(AnnouncementQueue queue) {
    this.queue = queue;
  }

  @Override
  public boolean hasRoom(int entries) {
    return super.hasRoom(entries) && last() + entries - MailboxLayout.ENTRIES <= seen;
  }

  long last() {
    return next() - 1;
  }

  void remove(PostedReceive receive) {
    long first = receive.index;
    for (long index = first; index < first + receive.indices; index++) {
      boolean wasInFlight = complete(index);
      assert wasInFlight : index;
    }
    if (receive.indices > 0 && receive.request.failure() != null) {
      firstFailed = Math.min(firstFailed, first);
    }
  }

  /** Whether a receive is over whose entry the sender may not have seen. */
  boolean isUnread(long index) {
    return index > seen && index <= last() && inFlight(index) == null;
  }

  /** The sender has seen all receives up to that one. */
  void saw(long index) {
    if (index > seen && index <= last()) {
      seen = index;
      queue.announceLater();
    }
  }

  long seen() {
    return seen;
  }

  /** Immediate data arrived; whether it is of a receive in flight. */
  boolean immediate(int bits) {
    long index = indexOf(ImmediateData.indexBits(bits));
    PostedReceive receive = inFlight(index);
    if (receive == null || !receive.stripe(receive.sub(index), bits)) {
      dropped++;
      // If none failed, it arrived before: its write failed, and the sender heard, or wrote again.
      immediates += receive == null && firstFailed != NONE_FAILED ? 1 : 0;
      return false;
    }
    immediates++;
    stripes++;
    saw(index);
    return true;
  }

  void written(long index, int immediate) {
    PostedReceive receive = inFlight(index);
    if (receive == null || !receive.written(receive.sub(index), immediate)) {
      dropped++;
    } else {
      stripes++;
      saw(index);
    }
  }

  void trueLength(long index, long lengthBytes) {
    PostedReceive receive = inFlight(index);
    if (receive == null || !receive.trueLength(receive.sub(index), lengthBytes)) {
      dropped++;
    }
  }

  /** All of a message is in its memory, as its sender says, whoever was told. */
  void delivered(long index, long lengthBytes) {
    PostedReceive receive = inFlight(index);
    if (receive != null) {
      saw(index);
      receive.delivered(receive.sub(index), lengthBytes);
    }
  }

  int hasStripe(long index, int stripe) {
    PostedReceive receive = inFlight(index);
    if (receive != null) {
      return receive.hasStripe(receive.sub(index), stripe);
    }
    // Of one that failed it is not known; its sender hears of that.
    boolean isOver = index <= last() && index < firstFailed;
    return isOver ? MessageProtocol.ARRIVED : MessageProtocol.UNKNOWN;
  }

  /** Writes that arrived with their immediate data, each once; those of failed receives, too. */
  long immediates() {
    return immediates;
  }

  long stripes() {
    return stripes;
  }

  long dropped() {
    return dropped;
  }
}
