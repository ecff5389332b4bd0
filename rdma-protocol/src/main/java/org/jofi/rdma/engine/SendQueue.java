package org.jofi.rdma.engine;

import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.request.StrategyList;
import org.jofi.rdma.sequence.Announcements;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * The sends that cannot start yet, in the order in which they were posted. Each takes the first
 * receive of its tag that is seen.
 *
 * <p>While something is queued, every poll looks for the next receive, which no send may see first.
 * So no receive that was seen awaits a queued send, unless there are no blocks to stage it through:
 * it has its receive then, and waits for blocks.
 */
final class SendQueue extends StrategyList<PostedSend> implements SentListener {
  private final Sender sender;
  private final Announcements announcements;
  private final EagerSends eager;
  private final Task lookout = new Lookout();

  /** Whether a queued send may have a receive, but no blocks, or not that receive's entry. */
  boolean heldUp;

  /** Whether every short one that is queued is behind a long one of its tag. */
  private boolean nothingLeaves;

  private boolean asks;

  private boolean asking;

  SendQueue(Sender sender, Announcements announcements, EagerSends eager) {
    this.sender = sender;
    this.announcements = announcements;
    this.eager = eager;
  }

  /**
   * Looks for the receives of what is queued. Usually they are announced soon. If not, the receiver
   * may withhold them, and is asked.
   */
  private final class Lookout extends Task {
    private static final int POLLS_BEFORE_ASKING = 256;

    private int pollsBeforeAsking = POLLS_BEFORE_ASKING;

    @Override
    protected boolean advance() {
      look();
      if (isEmpty()) {
        pollsBeforeAsking = POLLS_BEFORE_ASKING;
        asks = false;
        return true;
      }
      // Stays at 0 once it has asked, however long a receive is waited for.
      if (pollsBeforeAsking > 0 && --pollsBeforeAsking == 0) {
        ask();
      }
      sendWant();
      return false;
    }
  }

  @Override
  public void add(PostedSend send) {
    super.add(send);
    send.queued = true;
    nothingLeaves = false;
    sender.link.endpoint.tasks().watch(lookout);
  }

  @Override
  public void remove(PostedSend send) {
    super.remove(send);
    send.queued = false;
    nothingLeaves = false;
  }

  /** The oldest queued send of a tag that has no receive; null if there is none. */
  @Nullable PostedSend oldest(int tag) {
    PostedSend send = first();
    while (send != null && (send.tag != tag || send.index != Announcements.NOWHERE)) {
      send = send.next();
    }
    return send;
  }

  void look() {
    startHeldUp();
    while (sender.failure() == null && !isEmpty()) {
      long index = sender.see();
      if (index <= 0) {
        break;
      }
      PostedSend send = oldest(announcements.tag(index));
      if (send != null) {
        send.index = index;
        nothingLeaves = false;
        announcements.take(index);
        startQueued(send);
      }
    }
    if (eager.isOn()) {
      leaveQueued();
    }
  }

  /** Sends what waited for credit. */
  private void leaveQueued() {
    if (nothingLeaves) {
      return;
    }
    PostedSend send = first();
    boolean mayLeave = true;
    while (send != null && mayLeave && sender.failure() == null) {
      PostedSend next = send.next();
      if (send.index == Announcements.NOWHERE && send.isShort && send.equals(oldest(send.tag))) {
        mayLeave = eager.send(send, announcements.seen());
        if (mayLeave) {
          remove(send);
          send.endUse();
        }
      }
      send = next;
    }
    nothingLeaves = mayLeave;
    eager.leave();
  }

  /** Tries again to start what had no blocks, or no entry. */
  private void startHeldUp() {
    if (!heldUp) {
      return;
    }
    heldUp = false;
    PostedSend send = first();
    while (send != null && sender.failure() == null) {
      PostedSend next = send.next();
      if (send.index != Announcements.NOWHERE) {
        startQueued(send);
      }
      send = next;
    }
  }

  private void startQueued(PostedSend send) {
    if (sender.start(send)) {
      remove(send);
    }
  }

  /** Asks for what the receiver withholds at the next poll, if something waits for a receive. */
  void ask() {
    PostedSend send = eager.isOn() ? first() : null;
    while (send != null && send.index != Announcements.NOWHERE) {
      send = send.next();
    }
    asks |= send != null;
  }

  /**
   * A lost message does no harm: this side asks again while something waits, and what is announced
   * for nothing is used all the same.
   */
  private void sendWant() {
    if (asks && !asking && isWanted(0)) {
      asking = true;
      asks = !sender.link.tell(MessageType.WANT, announcements.seen(), 0, this, 0);
      asking &= !asks;
    }
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    asking = false;
  }

  @Override
  public boolean isWanted(long cookie) {
    return sender.failure() == null;
  }

  /** The first receive whose entry is not there: that one, or an earlier one of a queued send. */
  long firstUnseen(long absent) {
    long first = absent;
    for (PostedSend send = first(); send != null; send = send.next()) {
      long index = send.index;
      if (index != Announcements.NOWHERE && index < first && sender.mailbox.poll(index) <= 0) {
        first = index;
      }
    }
    return first;
  }
}
