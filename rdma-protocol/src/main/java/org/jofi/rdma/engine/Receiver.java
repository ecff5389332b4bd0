package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.counters.written.CounterType;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.request.RequestStrategy;
import org.jofi.rdma.request.StrategyList;
import org.jofi.rdma.sequence.LossDetector;
import org.jofi.rdma.sequence.LostNotices;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;

/**
 * The receiving side of a connection: writes entries into the sender's mailbox, and counts what
 * arrives. Used with the endpoint's lock held.
 */
public final class Receiver extends RequestQueue implements ReceiveProtocol {
  /** Those that are not reported yet, at most: more than are in flight. */
  private static final int RECEIVES = ProtocolLimits.RECEIVE_WINDOW + 128;

  /** The receives that wait for messages, in the order in which they were posted. */
  final StrategyList<PostedReceive> order = new StrategyList<>();

  final EagerReceives eager;
  private final LossDetector losses = new LossDetector();
  private final LostNotices notices = new LostNotices();
  final AnnouncementQueue unannounced;
  final AnnouncedReceives announcements;
  private int places;
  private long dropped;
  private long whole;
  private long expected = Long.MAX_VALUE;

  public Receiver(
      PeerLink link,
      MemorySegment copy,
      Descriptors copyRegistration,
      List<MailboxTarget> targets,
      EagerGrant grant) {
    super(link, MESSAGES, RECEIVES);
    unannounced = new AnnouncementQueue(this, copy, copyRegistration, targets);
    announcements = unannounced.announced;
    eager = new EagerReceives(this, grant);
  }

  @Override
  public long receive(
      int count, long[] addresses, long[] lengths, int[] tags, DataRegistration[] registrations) {
    long unposted = unposted(count);
    if (unposted != TO_POST) {
      return unposted;
    }
    for (int sub = 0; sub < count; sub++) {
      if (!registrations[sub].beginUse()) {
        while (sub > 0) {
          registrations[--sub].endUse();
        }
        return failed(deregistered("irecv"));
      }
    }
    PostedReceive receive = (PostedReceive) begin();
    receive.start(count);
    for (int sub = 0; sub < count; sub++) {
      DataRegistration memory = registrations[sub];
      long address = lengths[sub] == 0 ? memory.range().address() : addresses[sub];
      receive.expect(sub, address, lengths[sub], tags[sub], memory);
    }
    receive.withheld = count == 1 && eager.withholds(lengths[0], registrations[0]);
    return submit(receive);
  }

  /** Announces a receive that was set up, unless it is withheld or over already; its id. */
  private long submit(PostedReceive receive) {
    long id = receive.request.id();
    places += receive.count;
    eager.offerTo(receive);
    if (receive.request.isRunning()) {
      order.add(receive);
      receive.listed = true;
      unannounced.add(receive);
    }
    failIfPeerIsDone();
    return id;
  }

  private long unposted(int count) {
    boolean hasPlaces = places + count <= MailboxLayout.ENTRIES;
    return hasPlaces || failure() != null ? unposted() : Result.TRY_AGAIN;
  }

  @Override
  public long receiveStaged(StagingSpace space, long address, long lengthBytes, int tag) {
    long unposted = unposted(1);
    if (unposted != TO_POST) {
      return unposted;
    }
    StagingRing ring = space.take(lengthBytes);
    if (ring == null) {
      return Result.TRY_AGAIN;
    }
    if (!ring.registration().beginUse()) {
      space.give(ring);
      return failed(deregistered("irecv"));
    }
    StagedReceive receive = ((PostedReceive) begin()).staged();
    receive.start(address, lengthBytes, tag, ring);
    return submit(receive);
  }

  @Override
  public boolean packet(MemorySegment memory, long lengthBytes) {
    if (failure() != null || EagerPacket.seen(memory) > announcements.last()) {
      return false;
    }
    link.heard = true;
    announcements.saw(EagerPacket.seen(memory));
    dropped += eager.packet(memory, lengthBytes);
    failIfPeerIsDone();
    return true;
  }

  @Override
  public void immediate(int bits) {
    if (announcements.immediate(bits)) {
      link.heard = true;
    }
    failIfPeerIsDone();
  }

  @Override
  public RequestQueue requests() {
    return this;
  }

  @Override
  public boolean message(MessageType type, MemorySegment memory) {
    long index = ControlMessage.number(memory);
    switch (type) {
      case TRUE_LENGTH -> announcements.trueLength(index, ControlMessage.value(memory));
      case ARRIVED -> announcements.delivered(index, ControlMessage.value(memory));
      case WRITTEN -> announcements.written(index, (int) ControlMessage.value(memory));
      case CHUNKS_WRITTEN -> {
        // What is told again may come after the end of its message.
        if (announcements.inFlight(index) instanceof StagedReceive receive) {
          receive.chunksWritten(ControlMessage.value(memory));
        }
      }
      case WANT -> {
        announcements.saw(index);
        eager.want();
        unannounced.release();
      }
      default -> {
        return false;
      }
    }
    failIfPeerIsDone();
    return true;
  }

  /** Writes that arrived with their immediate data, each once; those of failed receives, too. */
  @Override
  public long arrived() {
    return announcements.immediates();
  }

  @Override
  public long writes() {
    return unannounced.written();
  }

  @Override
  public void controlLost() {
    unannounced.lost();
  }

  void messageArrived(long lengthBytes) {
    whole++;
    link.endpoint.counters().add(CounterType.MESSAGES_RECEIVED, 1);
    link.endpoint.counters().add(CounterType.BYTES_RECEIVED, lengthBytes);
    losses.clear();
    if (eager.arrived(lengthBytes)) {
      unannounced.release();
    }
  }

  @Override
  public int hasStripe(long index, int stripe) {
    return announcements.hasStripe(index, stripe);
  }

  /**
   * Handles the sender's report of how far it is. Messages that it has finished and that did not
   * arrive are late. Entries that were written and that it does not see are late, too, and are
   * written again. {@link #check} fails the messages if something is late for too long.
   */
  @Override
  public void peerIsAt(long finished, long unseen) {
    PostedReceive request = announcements.inFlight(unseen);
    boolean isLost =
        failure() == null
            && (announcements.isUnread(unseen)
                || (request != null && !unannounced.isUnderWay(unseen)));
    losses.set(finished > whole + eager.untaken(), isLost ? unseen : 0);
    if (finished > whole + eager.untaken() && link.endpoint.dataRails() > 1) {
      notices.suspect(announcements.last());
    }
    if (isLost) {
      unannounced.writeAgain(unseen);
    }
  }

  @Override
  public void check(long now, long boundNs) {
    super.check(now, boundNs);
    if (failure() == null && notices.isDue(announcements.oldest(), now)) {
      // If there is no buffer, it is asked again.
      link.tell(MessageType.LACKING, announcements.oldest(), 0);
    }
    String late = failure() == null ? losses.overdue(now, boundNs) : null;
    if (late != null) {
      expire(timedOut("irecv from " + link.describePeer(), late, boundNs));
    }
  }

  /** What is beyond fails. */
  @Override
  public void peerStops(long messages) {
    expected = Math.min(expected, messages);
    unannounced.stop();
    failIfPeerIsDone();
  }

  /** Stripes may arrive over the broken rail without a completion. */
  @Override
  public void queueBroke(Failure why) {
    fail(why);
  }

  @Override
  public void railClosed() {
    notices.suspect(announcements.last());
  }

  void failIfPeerIsDone() {
    if (failure() != null || whole + eager.untaken() < expected) {
      return;
    }
    Failure why = new Failure(FailureCause.PEER_CLOSED, 0, "irecv", "");
    if (whole >= expected) {
      fail(why);
      return;
    }
    // What is stored is of other tags than all that waits, and is for receives to come.
    PostedReceive receive = order.first();
    while (receive != null) {
      PostedReceive next = receive.next();
      if (receive.isLive() && !receive.endsByItself()) {
        receive.fail(why);
      }
      receive = next;
    }
  }

  @Override
  public boolean isQuiet() {
    return unannounced.isQuiet() && super.isQuiet();
  }

  @Override
  public void hurry() {
    unannounced.stop();
  }

  /** Not if the peer closed and messages are stored: those are for receives to come. */
  @Override
  public boolean failsWith(Failure why) {
    return why.cause() != FailureCause.PEER_CLOSED || failure() != null || !hasPeerStopped();
  }

  boolean hasPeerStopped() {
    return expected != Long.MAX_VALUE;
  }

  @Override
  public boolean awaitsMore() {
    return hasPeerStopped() && failure() == null && whole + eager.untaken() < expected;
  }

  @Override
  protected RequestStrategy firstStrategy(Request request) {
    return new PostedReceive(this, request);
  }

  @Override
  public void ended(Request request) {
    PostedReceive receive = (PostedReceive) request.strategy();
    if (receive.listed) {
      unannounced.remove(receive);
      order.remove(receive);
    }
    places -= receive.count;
    announcements.remove(receive);
    unannounced.announceLater();
  }

  @Override
  public long test(long request, long[] lengths) {
    Request known = find(request);
    if (known == null) {
      return Result.STALE_REQUEST;
    }
    if (failure(request) != null) {
      // It has no lengths, and perhaps never was a receive.
      return known.test();
    }
    PostedReceive receive = (PostedReceive) known.strategy();
    receive.checkFits(lengths);
    long result = known.test();
    if (result >= 0) {
      receive.lengths(lengths);
    }
    return result;
  }

  @Override
  public int lengths(long request, long[] lengths) {
    Request over = owns(request) ? succeeded(request) : null;
    if (over == null) {
      return 0;
    }
    PostedReceive receive = (PostedReceive) over.strategy();
    receive.checkFits(lengths);
    receive.lengths(lengths);
    return receive.count;
  }

  public long dropped() {
    return dropped + announcements.dropped();
  }

  public long inFlight() {
    return places;
  }
}
