package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.AddressSpace;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Short messages that arrive without an announced receive: they are handled in the order of their
 * ordinals, each taken by a receive or stored until one is posted; {@link EagerSends} tells the
 * rule. The sender is told of progress after half of its credit, with one small message.
 *
 * <p>Receives that such messages may fill are withheld: not announced, unless the sender says that
 * it waits for announcements; then they are until the next such message.
 */
final class EagerReceives extends Task implements SentListener {
  /** After so many short messages the next is taken to be short, however long its receive is. */
  private static final int ROW = 16;

  /** Above, two copies cost as much as an announcement. */
  private static final int LONGEST_OF_ROW = 32 * 1024;

  private final Receiver receiver;
  private final EagerGrant grant;
  private final UnexpectedMessages unexpected = new UnexpectedMessages();
  private long handled;
  private long taken;
  private long told;
  private long shortInRow;
  private boolean wanted;

  EagerReceives(Receiver receiver, EagerGrant grant) {
    this.receiver = receiver;
    this.grant = grant;
  }

  /** The longest message that does not end a row of short ones. */
  static int rowBytes(EagerGrant grant) {
    return Math.min(grant.bytes(), LONGEST_OF_ROW);
  }

  @Override
  protected boolean advance() {
    if (!isWanted(0) || receiver.hasPeerStopped()) {
      return true;
    }
    long through = taken;
    long untaken =
        ControlMessage.ofCredit((int) (handled - through), receiver.announcements.last());
    boolean sent = receiver.link.tell(MessageType.CREDIT, handled, untaken, this, 0);
    if (sent) {
      told = through;
    }
    return sent;
  }

  /** Whether a receive is not announced for now: a short message may fill it. */
  boolean withholds(long lengthBytes, DataRegistration memory) {
    boolean expectsShort = lengthBytes <= grant.bytes() || shortInRow >= ROW;
    return !grant.isNone() && !wanted && expectsShort && memory.isHostMemory();
  }

  /** A message arrived; whether it is a long one after many short ones. */
  boolean arrived(long lengthBytes) {
    boolean isLong = lengthBytes > rowBytes(grant);
    boolean ends = isLong && shortInRow >= ROW;
    shortInRow = isLong ? 0 : shortInRow + 1;
    return ends;
  }

  long handled() {
    return handled;
  }

  /** Messages that arrived and that no receive took yet. */
  int untaken() {
    return unexpected.count();
  }

  /** The sender waits for announcements: nothing is withheld until a message arrives. */
  void want() {
    wanted = true;
    shortInRow = 0;
  }

  /** A packet arrived; how many of its messages this side has, or the sender had no credit for. */
  int packet(MemorySegment memory, long lengthBytes) {
    long ordinal = EagerPacket.ordinal(memory);
    long seen = EagerPacket.seen(memory);
    int useless = 0;
    wanted = false;
    for (int offset = EagerPacket.HEADER_BYTES;
        offset < lengthBytes;
        offset = EagerPacket.next(memory, offset)) {
      int bytes = EagerPacket.lengthBytes(memory, offset);
      long from = memory.address() + offset + EagerPacket.MESSAGE_BYTES;
      if (!message(ordinal++, seen, EagerPacket.tag(memory, offset), from, bytes)) {
        useless++;
      }
    }
    handleNext();
    creditIfDue();
    return useless;
  }

  private boolean message(long ordinal, long seen, int tag, long from, int bytes) {
    if (ordinal <= handled || ordinal - taken > grant.credits() || bytes > grant.bytes()) {
      return false;
    }
    if (ordinal == handled + 1) {
      handled = ordinal;
      if (take(tag, seen, from, bytes)) {
        taken++;
        return true;
      }
    }
    UnexpectedMessages.Message message = unexpected.add(ordinal, seen, tag, bytes);
    if (message == null) {
      return false;
    }
    MemorySegment.copy(AddressSpace.ALL, from, message.copy, 0, bytes);
    return true;
  }

  /** The oldest receive of its tag that its sender had not seen takes it; false if none is. */
  private boolean take(int tag, long seenBySender, long from, int lengthBytes) {
    for (PostedReceive receive = receiver.order.first();
        receive != null;
        receive = receive.next()) {
      for (int sub = 0; sub < receive.count; sub++) {
        long index = receive.tag(sub) == tag ? receive.indexOf(sub) : seenBySender;
        boolean mayTake = index == PostedReceive.NONE || index > seenBySender;
        if (mayTake && receive.tag(sub) == tag && receive.isOpen(sub)) {
          return fill(receive, sub, from, lengthBytes);
        }
      }
    }
    return false;
  }

  /** If the receive has failed, and is not reported yet, the message is for no later one. */
  private boolean fill(PostedReceive receive, int sub, long from, int lengthBytes) {
    Failure why = receive.request.failure();
    if (why != null) {
      receiver.fail(why);
      return false;
    }
    receive.take(sub, from, lengthBytes);
    return true;
  }

  /** Handles what came before its turn, which is now. */
  private void handleNext() {
    int place = 0;
    while (place < unexpected.count() && unexpected.get(place).ordinal <= handled + 1) {
      UnexpectedMessages.Message message = unexpected.get(place);
      boolean isNext = message.ordinal == handled + 1;
      handled = Math.max(handled, message.ordinal);
      if (isNext && take(message.tag, message.seen, message.copy.address(), message.lengthBytes)) {
        taken++;
        unexpected.remove(message);
      } else {
        place++;
      }
    }
  }

  /** A receive was posted: it takes the oldest message of its tag that is stored. */
  void offerTo(PostedReceive receive) {
    if (unexpected.count() == 0) {
      return;
    }
    for (int sub = 0; sub < receive.count; sub++) {
      UnexpectedMessages.Message message = unexpected.oldest(receive.tag(sub), handled);
      if (message != null && receive.isLive()) {
        taken++;
        receive.take(sub, message.copy.address(), message.lengthBytes);
        unexpected.remove(message);
      }
    }
    creditIfDue();
  }

  private void creditIfDue() {
    if (taken - told >= Math.max(1, grant.credits() / 2)) {
      receiver.link.endpoint.tasks().submit(this);
    }
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    if (why != null && !receiver.hasPeerStopped()) {
      receiver.fail(why);
    }
  }

  @Override
  public boolean isWanted(long cookie) {
    return receiver.failure() == null;
  }
}
