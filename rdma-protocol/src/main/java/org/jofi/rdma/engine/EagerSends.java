package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jofi.rdma.operation.AddressSpace;
import org.jofi.rdma.operation.Collector;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.EagerGrant;
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
final class EagerSends extends Collector {
  private final PeerLink link;

  private final Sender sender;
  private final EagerGrant grant;
  private final int credits;
  private final int packetBytes;
  private final ArrayDeque<EagerBatch> free = new ArrayDeque<>(1);

  /** Of messages that may yet turn out to have taken an entry: their tags, and whether one did. */
  private int[] tags = new int[8];

  private boolean[] matched = new boolean[8];
  private @Nullable EagerBatch open;
  private @Nullable EagerBatch last;

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
    EagerBatch before = last;
    return before != null && before.waits;
  }

  @Override
  public void submit() {
    EagerBatch batch = open;
    if (batch != null) {
      open = null;
      last = batch;
      Packet packet = batch.packet;
      MessageHeader.put(packet.memory(), MessageType.EAGER, batch.bytes, link.id);
      packet.send(batch.bytes, batch, 0);
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
    int lengthBytes = (int) send.lengthBytes;
    EagerBatch batch = open;
    if (batch != null && !batch.takes(lengthBytes, packetBytes, seen)) {
      submit();
      batch = null;
      if (!isWanted()) {
        return false;
      }
    }
    if (batch == null) {
      Packet packet = link.sink.takePacket();
      if (packet == null) {
        return false;
      }
      batch = free.isEmpty() ? new EagerBatch(this, packet) : free.removeLast();
      batch.begin(packet, sent + 1, seen);
      open = batch;
    }
    sent++;
    if (sent - unresolved >= tags.length) {
      grow();
    }
    tags[at(sent)] = send.tag;
    matched[at(sent)] = false;
    long to = batch.add(send, lengthBytes);
    MemorySegment.copy(AddressSpace.ALL, send.address, AddressSpace.ALL, to, lengthBytes);
    send.left = true;
    send.out = true;
    return true;
  }

  private void grow() {
    int length = tags.length;
    int[] fewerTags = tags;
    boolean[] fewer = matched;
    tags = new int[2 * length];
    matched = new boolean[2 * length];
    for (long ordinal = unresolved; ordinal < sent; ordinal++) {
      tags[at(ordinal)] = fewerTags[(int) ordinal & length - 1];
      matched[at(ordinal)] = fewer[(int) ordinal & length - 1];
    }
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
      if (!matched[at(ordinal)] && tags[at(ordinal)] == tag) {
        matched[at(ordinal)] = true;
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
    while (unresolved <= sent && matched[at(unresolved)]) {
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

  /** Whether the receiver told something that was not applied. */
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

  void posted(int messages, long lengthBytes) {
    posted += messages;
    sender.left(messages, lengthBytes);
  }

  void sent(EagerBatch batch, @Nullable Failure why) {
    if (batch.equals(last)) {
      last = null;
    }
    free.addLast(batch);
    if (why != null) {
      sender.fail(why);
    }
  }

  boolean isWanted() {
    return sender.failure() == null;
  }
}
