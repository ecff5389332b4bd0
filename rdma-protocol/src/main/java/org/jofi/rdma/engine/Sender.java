package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import org.jofi.counters.written.CounterType;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.request.RequestStrategy;
import org.jofi.rdma.sequence.Announcements;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxReader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The sending side of a connection: matches sends with the receives in its mailbox, and writes.
 * Used with the endpoint's lock held.
 *
 * <p>A send takes the oldest receive of its tag. Its entry is read when the send starts; if that
 * was written over meanwhile, by what a former connection of the mailbox left on its way, the send
 * waits until the peer has written it again.
 *
 * <p>A short send that finds none leaves without, as far as the peer grants that: {@link
 * EagerSends}. Any other is queued, and takes the first one of its tag that is seen, before any
 * later send of that tag: {@link SendQueue}.
 */
public final class Sender extends RequestQueue implements SendProtocol {
  /** Those of a communicator that are in flight, at most. */
  public static final int SENDS = ProtocolLimits.RECEIVE_WINDOW;

  /** After so many in a row the receiver, which counts for itself, may withhold a long receive. */
  private static final int SHORT_ROW = 4;

  final boolean writesData;
  final MailboxReader mailbox;
  private final Announcements announcements;
  private final EagerSends eager;
  private final SendQueue queue;

  /**
   * Null with one rail, which is never closed; and where a write that completed is with the peer's
   * NIC, and would be lost with that.
   */
  private final @Nullable DeliveredMessages delivered;

  /** The longest message that may leave without an announced receive. */
  final int shortBytes;

  /** The longest of a row of short ones, and how many there were since a longer one. */
  private final int rowBytes;

  private long shortInRow;
  private long started;
  private long finished;
  long stripesWritten;

  public Sender(
      PeerLink link,
      MemorySegment mailbox,
      boolean writesData,
      long maxMessageBytes,
      EagerGrant grant) {
    super(link, MESSAGES, SENDS);
    this.writesData = writesData;
    this.mailbox =
        new MailboxReader(
            mailbox,
            new MailboxLayout(link.endpoint.dataRails()),
            link.id.fromGeneration(),
            maxMessageBytes);
    // What merely reached a NIC may be lost with it.
    boolean completesWhenDelivered =
        link.endpoint.dataRails() > 1 && !link.endpoint.completionMeansDelivered();
    delivered = completesWhenDelivered ? new DeliveredMessages() : null;
    announcements = new Announcements(this.mailbox);
    // Of a grant of none, nothing is short enough.
    shortBytes = grant.isNone() ? -1 : grant.bytes();
    rowBytes = EagerReceives.rowBytes(grant);
    eager = new EagerSends(link, this, grant);
    queue = new SendQueue(this, announcements, eager);
  }

  @Override
  public long send(
      long address,
      long lengthBytes,
      int tag,
      @Nullable DataRegistration registration,
      @Nullable StagingSpace space) {
    if (!queue.isEmpty()) {
      queue.look();
    }
    boolean full = isFull();
    boolean looks =
        announcements.hasFree() || eager.hasWord() || !mailbox.isAbsent(announcements.unseen());
    long index = looks && !full && failure() == null ? find(tag) : Announcements.NOWHERE;
    Failure broken = failure();
    if (broken != null) {
      return failed(broken);
    }
    if (full) {
      return Result.TRY_AGAIN;
    }
    PostedSend send = (PostedSend) begin();
    send.start(address, lengthBytes, tag, registration, space, index);
    boolean isLong = lengthBytes > rowBytes;
    boolean mayBeWithheld = isLong && shortInRow >= SHORT_ROW;
    shortInRow = isLong ? 0 : shortInRow + 1;
    boolean left =
        index == Announcements.NOWHERE
            && send.isShort
            && (queue.isEmpty() || queue.oldest(tag) == null)
            && eager.send(send, announcements.seen());
    if (!left && send.isLive() && !send.hold()) {
      takeBack(send.request);
      return failed(deregistered("isend"));
    }
    if (index != Announcements.NOWHERE) {
      announcements.take(index);
    }
    boolean started = index != Announcements.NOWHERE && start(send);
    if (!left && !started && send.isLive()) {
      queue.add(send);
      if (mayBeWithheld) {
        queue.ask();
      }
    }
    eager.leave();
    return send.request.id();
  }

  /**
   * The oldest receive of a tag that is free, or {@link Announcements#NOWHERE}. Those that were not
   * seen are for sends that wait, if any do.
   */
  private long find(int tag) {
    long index = announcements.hasFree() ? announcements.find(tag) : Announcements.NOWHERE;
    while (index == Announcements.NOWHERE && queue.isEmpty()) {
      long seen = see();
      if (seen <= 0) {
        return Announcements.NOWHERE;
      }
      index = announcements.tag(seen) == tag ? seen : Announcements.NOWHERE;
    }
    return index;
  }

  /** Looks for the next receive: its index, or not positive. */
  long see() {
    long index = announcements.see();
    while (index > 0) {
      link.heard = true;
      boolean taken = eager.takes(announcements.tag(index), mailbox.handled());
      eager.applyCredit(announcements.seen());
      if (!taken) {
        return index;
      }
      announcements.take(index);
      index = announcements.see();
    }
    eager.applyCredit(announcements.seen());
    if (index == MailboxReader.MALFORMED) {
      fail(
          new Failure(
              FailureCause.PROTOCOL_VIOLATION,
              0,
              "mailbox entry of receive " + (announcements.seen() + 1),
              mailbox.fault().words()));
    }
    return index;
  }

  @Override
  public boolean cancel(long request) {
    Request known = find(request);
    if (known == null
        || !known.isRunning()
        || !(known.strategy() instanceof PostedSend send)
        || !send.queued
        || send.index != Announcements.NOWHERE) {
      return false;
    }
    queue.remove(send);
    send.endUse();
    takeBack(known);
    return true;
  }

  /**
   * Starts a send to a receive that was taken for it.
   *
   * @return false if its entry is not there any more, or there are no blocks to stage it through
   *     now: nothing was done; or it is longer than its receive, and this side failed
   */
  boolean start(PostedSend posting) {
    long index = posting.index;
    if (!mailbox.isLoaded(index) && mailbox.poll(index) <= 0) {
      queue.heldUp = true;
      return false;
    }
    long lengthBytes = posting.lengthBytes;
    long room = mailbox.lengthBytes();
    if (lengthBytes > room) {
      fail(tooLong("isend of message %d".formatted(index), lengthBytes, room));
      return false;
    }
    StagingSpace space = posting.space;
    StagingRing ring = space == null ? null : space.take(lengthBytes);
    if (space != null && ring == null) {
      queue.heldUp = true;
      return false;
    }
    DataRegistration registration = ring == null ? posting.lease : ring.registration();
    if (ring != null && !ring.registration().beginUse()) {
      StagingRing.give(ring);
      fail(deregistered("isend of message %d".formatted(index)));
      return false;
    }
    if (registration == null) {
      throw new IllegalStateException("neither registered nor staged");
    }
    started++;
    posting.handOver();
    if (ring != null || mailbox.isStaged()) {
      posting.staged().start(registration, ring);
      return true;
    }
    RendezvousSend send = posting.rendezvous();
    for (int rail = 0; rail < link.endpoint.dataRails(); rail++) {
      send.remote(rail, mailbox.remoteAddress(), mailbox.key(rail));
    }
    long from = lengthBytes == 0 ? registration.range().address() : posting.address;
    send.start(lengthBytes < room, from, lengthBytes, registration, null);
    return true;
  }

  @Override
  protected RequestStrategy firstStrategy(Request request) {
    return new PostedSend(this, request);
  }

  @Override
  public void ended(Request request) {
    if (request.strategy() instanceof PostedSend send) {
      if (send.queued) {
        queue.remove(send);
      }
    } else if (request.strategy().isComplete()) {
      // Also if it failed meanwhile: the peer gets it.
      finished++;
      count(1, request.strategy().movedBytes());
      if (delivered != null && request.posted() instanceof PostedSend send) {
        delivered.add(send.index, send.lengthBytes);
      }
    }
  }

  @Override
  public RequestQueue requests() {
    return this;
  }

  @Override
  public boolean message(MessageType type, MemorySegment memory) {
    long index = ControlMessage.number(memory);
    return switch (type) {
      case LACKING -> {
        if (delivered != null) {
          delivered.tell(link, index);
        }
        yield true;
      }
      case CREDIT ->
          eager.credit(index, ControlMessage.untaken(memory), ControlMessage.announced(memory));
      case ANSWER -> {
        yield sendTo(index) instanceof RendezvousSend send
            && send.answered(
                ControlMessage.stripe(memory),
                ControlMessage.tries(memory),
                ControlMessage.arrived(memory));
      }
      case CHUNKS_TAKEN -> {
        if (sendTo(index) instanceof StagedSend send) {
          send.taken(ControlMessage.value(memory));
        }
        yield true;
      }
      default -> false;
    };
  }

  /** The send to a receive, which is not over; null if there is none. */
  private @Nullable RequestStrategy sendTo(long index) {
    for (int slot = 0; slot < all().size(); slot++) {
      Request request = all().get(slot);
      if (request.posted() instanceof PostedSend send
          && send.index == index
          && request.strategy().isLive()) {
        return request.strategy();
      }
    }
    return null;
  }

  String where(long index) {
    return "isend of message %d to %s".formatted(index, link.describePeer());
  }

  @Override
  public void peerStops(long messages) {
    fail(new Failure(FailureCause.PEER_CLOSED, 0, "communicator %d".formatted(link.id.from()), ""));
  }

  /** A receive of a group counts as one. */
  @Override
  public long finished() {
    return finished;
  }

  void left(int messages, long lengthBytes) {
    started += messages;
    finished += messages;
    count(messages, lengthBytes);
  }

  private void count(int messages, long lengthBytes) {
    link.endpoint.counters().add(CounterType.MESSAGES_SENT, messages);
    link.endpoint.counters().add(CounterType.BYTES_SENT, lengthBytes);
  }

  @Override
  public int waiting() {
    return queue.size();
  }

  @Override
  public void check(long now, long boundNs) {
    super.check(now, boundNs);
    queue.ask();
  }

  /** Stripes that were written with their immediate data. */
  @Override
  public long writes() {
    return stripesWritten;
  }

  /** Entries that are there, of all so far. */
  @Override
  public long arrived() {
    return announcements.entries();
  }

  @Override
  public long firstUnseen() {
    return queue.firstUnseen(announcements.firstAbsent());
  }

  /** Messages that left, or that have their receive; one of a group counts as one. */
  public long started() {
    return started;
  }
}
