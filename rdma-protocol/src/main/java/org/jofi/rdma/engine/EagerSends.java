package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import org.jofi.rdma.operation.AddressSpace;
import org.jofi.rdma.operation.Collector;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * The short messages of a sender that leave before a receive of theirs was announced: how many may,
 * and which announced receives they turn out to have taken.
 *
 * <p><b>Matching.</b> Both sides find out by themselves which receive such a message takes. It says
 * how many receives its sender had seen, none of which it takes; the receiver gives it the oldest
 * other one of its tag. An entry says how many of these messages the receiver had handled when the
 * receive got its index. Those have other receives, or are stored; the oldest later one of the
 * entry's tag takes it. So neither waits for the other, and no answer is needed.
 *
 * <p><b>Collecting.</b> A message leaves within its call, unless one left since the last poll, or
 * waits for a rail: then it leaves with the next poll, or when its packet is full.
 */
final class EagerSends extends Collector implements SentListener {
  private static final long MATCHED = -1;
  private static final long NONE = 0;
  private static final int COUNT_BITS = Byte.SIZE;

  private final PeerLink link;
  private final Sender sender;
  private final EagerGrant grant;
  private final int credits;
  private final int packetBytes;

  /**
   * By ordinal, of messages that may yet turn out to have taken an entry: the tag, or that one did.
   * It has room for as many as there are credits, from the first of them on: many are idle.
   */
  private long[] tags = new long[0];

  /** By ordinal, those whose packet no provider took yet. */
  private @Nullable PostedSend[] waiting = new @Nullable PostedSend[0];

  /** The packet that is being filled, how long it is so far, and how many messages are in it. */
  private @Nullable Packet open;

  private int openBytes;
  private int openCount;

  /** How many receives were seen when it was begun. */
  private long openSeen;

  /** The packet that left last, while no provider took it: its first ordinal, and how many. */
  private long last = NONE;

  private long sent;

  /** The first that may yet have taken an entry that was not seen. */
  private long unresolved = 1;

  /** How many the receiver had handled by what was seen: entries, and applied credit. */
  private long handled;

  private long posted;
  private long taken;
  private long creditHandled;
  private long creditTaken;
  private long creditAnnounced = -1;

  EagerSends(PeerLink link, Sender sender, EagerGrant grant) {
    super(link.endpoint.tasks());
    this.link = link;
    this.sender = sender;
    this.grant = grant;
    credits = grant.credits();
    // The peer's buffers are as long as it needs for what it grants.
    packetBytes = Math.min(link.endpoint.packetBytes(), grant.packetBytes());
  }

  @Override
  public boolean isEmpty() {
    return open == null;
  }

  @Override
  public boolean isHeldUp() {
    return last != NONE;
  }

  @Override
  public void submit() {
    Packet packet = open;
    if (packet != null) {
      open = null;
      last = ((sent - openCount + 1) << COUNT_BITS) | openCount;
      MessageHeader.put(packet.memory(), MessageType.EAGER, openBytes, link.id);
      packet.send(openBytes, this, last);
    }
  }

  /** Whether short messages may leave before a receive is announced. */
  boolean isOn() {
    return !grant.isNone();
  }

  /** Copies a short message into a packet; false if it has to wait for credit, or for a buffer. */
  boolean send(PostedSend send, long seen) {
    if (sent - taken >= credits) {
      return false;
    }
    if (tags.length == 0) {
      int room = Integer.highestOneBit(2 * credits - 1);
      tags = new long[room];
      waiting = new @Nullable PostedSend[room];
    }
    int lengthBytes = (int) send.lengthBytes;
    Packet packet = open;
    if (packet != null && !fits(lengthBytes, seen)) {
      submit();
      packet = null;
      if (sender.failure() != null) {
        return false;
      }
    }
    if (waiting[at(sent + 1)] != null) {
      // Of a packet that waits for its rail, while a later one was answered.
      return false;
    }
    if (packet == null) {
      packet = link.sink.takePacket();
      if (packet == null) {
        return false;
      }
      openBytes = EagerPacket.begin(packet.memory(), sent + 1, seen);
      openCount = 0;
      openSeen = seen;
      open = packet;
    }
    openCount++;
    sent++;
    tags[at(sent)] = Integer.toUnsignedLong(send.tag);
    waiting[at(sent)] = send;
    send.ordinal = sent;
    send.out = true;
    int payload = EagerPacket.putMessage(packet.memory(), openBytes, send.tag, lengthBytes);
    openBytes = EagerPacket.after(payload, lengthBytes);
    long to = packet.memory().address() + payload;
    MemorySegment.copy(AddressSpace.ALL, send.address, AddressSpace.ALL, to, lengthBytes);
    return true;
  }

  /** Whether a message fits, and this side saw no further receive since the packet was begun. */
  private boolean fits(int lengthBytes, long seen) {
    return openSeen == seen
        && openCount < EagerPacket.MOST_MESSAGES
        && EagerPacket.after(openBytes + EagerPacket.MESSAGE_BYTES, lengthBytes) <= packetBytes;
  }

  private int at(long ordinal) {
    return (int) ordinal & tags.length - 1;
  }

  /** An entry was seen, with the low byte of what was handled; whether its receive is taken. */
  boolean takes(int tag, int handledByte) {
    if (sent == 0) {
      return false;
    }
    // It never becomes less from entry to entry, nor more by as much as a byte counts.
    resolve(handled + (handledByte - handled & 0xff));
    for (long ordinal = unresolved; ordinal <= sent; ordinal++) {
      if (tags[at(ordinal)] == Integer.toUnsignedLong(tag)) {
        tags[at(ordinal)] = MATCHED;
        skipMatched();
        return true;
      }
    }
    return false;
  }

  private void resolve(long through) {
    handled = Math.min(sent, through);
    unresolved = Math.max(unresolved, handled + 1);
    skipMatched();
  }

  private void skipMatched() {
    while (unresolved <= sent && tags[at(unresolved)] == MATCHED) {
      unresolved++;
    }
  }

  /** The receiver told how far it is; whether that can be. */
  boolean credit(long inOrder, int untaken, long announced) {
    if (inOrder > posted || untaken > Math.min(inOrder, grant.credits())) {
      return false;
    }
    if (inOrder >= creditHandled && inOrder - untaken >= creditTaken) {
      creditHandled = inOrder;
      creditTaken = inOrder - untaken;
      creditAnnounced = announced;
    }
    return true;
  }

  boolean hasWord() {
    return creditAnnounced >= 0;
  }

  /**
   * Applies what the receiver told, once all receives were seen that had an index by then: which
   * messages took one of those is found out with their entries.
   */
  void applyCredit(long seen) {
    if (creditAnnounced >= 0 && seen >= creditAnnounced) {
      creditAnnounced = -1;
      taken = Math.max(taken, creditTaken);
      resolve(Math.max(handled, creditHandled));
    }
  }

  /** Whether no provider took a packet yet. */
  private boolean waits(long packet) {
    long first = packet >>> COUNT_BITS;
    PostedSend send = waiting[at(first)];
    return send != null && send.ordinal == first;
  }

  @Override
  public void posted(long packet) {
    end(packet, null);
  }

  @Override
  public void sent(long packet, @Nullable Failure why) {
    end(packet, why);
    if (why != null) {
      sender.fail(why);
    }
  }

  /** Once: a packet that failed is posted again, and dropped by a receiver that has it. */
  private void end(long packet, @Nullable Failure why) {
    if (!waits(packet)) {
      return;
    }
    last = packet == last ? NONE : last;
    long first = packet >>> COUNT_BITS;
    int count = (int) (packet - (first << COUNT_BITS));
    long bytes = 0;
    for (long ordinal = first; ordinal < first + count; ordinal++) {
      PostedSend send = waiting[at(ordinal)];
      waiting[at(ordinal)] = null;
      if (send != null) {
        bytes += send.lengthBytes;
        send.left(why);
      }
    }
    if (why == null) {
      posted += count;
      sender.left(count, bytes);
    }
  }

  @Override
  public boolean mayBeToldLate() {
    return true;
  }

  @Override
  public boolean isWanted(long packet) {
    // What was posted once is over for its senders: it is not dropped because this side closes.
    return sender.failure() == null || !waits(packet);
  }
}
