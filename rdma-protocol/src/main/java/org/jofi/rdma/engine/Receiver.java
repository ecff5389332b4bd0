package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.sequence.ReceiveIndices;
import org.jofi.rdma.sequence.ReceiveWindow;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The receiving side of a connection: writes entries into the sender's mailbox, and counts what
 * arrives. Used with the endpoint's lock held.
 */
public final class Receiver extends RequestQueue implements ReceiveProtocol {
  private final Announcer announcer;
  private final ReceiveWindow window = new ReceiveWindow();
  private final BySlot<PostedReceive> posted =
      new BySlot<>(slot -> new PostedReceive(this, request(slot)));
  private final BySlot<ChunkedReceive> chunked =
      new BySlot<>(slot -> new ChunkedReceive(this, request(slot)));
  private final @Nullable IncomingReceive[] inFlight =
      new @Nullable IncomingReceive[MailboxLayout.ENTRIES];
  private final LossDetector losses = new LossDetector();
  private final AnnouncementQueue unannounced;
  private long dropped;
  private long whole;
  private long stripes;
  private long immediates;
  private long announced;
  private long expected = Long.MAX_VALUE;

  /**
   * @param copy this side's copy of the mailbox, from which entries are written
   * @param copyRegistration of the copy, on the control rails
   * @param targets the sender's mailbox, per control rail
   * @param receives not reported yet, at most; more than are in flight
   */
  public Receiver(
      PeerLink link,
      MemorySegment copy,
      Descriptors copyRegistration,
      List<MailboxTarget> targets,
      int receives) {
    super(link, RequestTable.MESSAGES, receives);
    announcer = new Announcer(link, copy, copyRegistration, targets);
    unannounced = new AnnouncementQueue(this);
  }

  @Override
  public long receive(
      int count, long[] addresses, long[] lengths, int[] tags, DataRegistration[] registrations) {
    Failure broken = failure();
    if (broken != null) {
      return failed(broken);
    }
    if (!beginUse(count, registrations)) {
      return failed(deregistered("irecv"));
    }
    int slot = window.hasRoom(count) ? begin() : RequestTable.NONE;
    if (slot == RequestTable.NONE) {
      endUse(count, registrations);
      return Result.TRY_AGAIN;
    }
    PostedReceive receive = posted.get(slot);
    long first = window.post(count);
    receive.start(first, count);
    for (int sub = 0; sub < count; sub++) {
      DataRegistration memory = registrations[sub];
      long address = lengths[sub] == 0 ? memory.range().address() : addresses[sub];
      announcer.put(first + sub, address, lengths[sub], tags[sub], memory);
      receive.expect(sub, lengths[sub], memory);
    }
    return submit(receive);
  }

  /** Announces a receive that was set up, now or when there is room; its id. */
  private long submit(IncomingReceive receive) {
    for (int sub = 0; sub < receive.indices(); sub++) {
      inFlight[receive.slotOf(sub)] = receive;
    }
    long id = table().id(receive.request().slot());
    unannounced.announce();
    return id;
  }

  @Override
  public long receiveStaged(StagingSpace space, long address, long lengthBytes, int tag) {
    Failure broken = failure();
    if (broken != null) {
      return failed(broken);
    }
    StagingRing ring = window.hasRoom(1) ? space.take(lengthBytes) : null;
    if (ring == null) {
      return Result.TRY_AGAIN;
    }
    int entries = ChunkedReceive.entries(space, ring, lengthBytes);
    int slot = window.hasRoom(entries) ? begin() : RequestTable.NONE;
    if (slot == RequestTable.NONE) {
      space.give(ring);
      return Result.TRY_AGAIN;
    }
    ChunkedReceive receive = chunked.get(slot);
    receive.start(window.post(entries), entries, address, lengthBytes, tag, space, ring);
    return submit(receive);
  }

  Announcer announcer() {
    return announcer;
  }

  private static boolean beginUse(int count, DataRegistration[] registrations) {
    for (int sub = 0; sub < count; sub++) {
      if (!registrations[sub].beginUse()) {
        endUse(sub, registrations);
        return false;
      }
    }
    return true;
  }

  private static void endUse(int count, DataRegistration[] registrations) {
    for (int sub = 0; sub < count; sub++) {
      registrations[sub].endUse();
    }
  }

  @Override
  public void immediate(int bits) {
    immediates++;
    long index = window.inFlight(ImmediateData.indexBits(bits));
    IncomingReceive request =
        index == ReceiveIndices.OUTSIDE ? null : inFlight[ReceiveWindow.slot(index)];
    if (request == null || !request.stripe(request.sub(index), bits)) {
      dropped++;
    } else {
      stripes++;
      hear();
    }
    failIfPeerIsDone();
  }

  /** The index that the next receive gets. */
  long next() {
    return window.next();
  }

  AnnouncementQueue unannounced() {
    return unannounced;
  }

  /** The request in flight that a receive is of; null if there is none. */
  @Nullable IncomingReceive inFlight(long index) {
    return window.isInFlight(index) ? inFlight[ReceiveWindow.slot(index)] : null;
  }

  @Override
  public RequestQueue requests() {
    return this;
  }

  @Override
  public boolean message(MessageType type, MemorySegment memory, long at) {
    long index = ControlMessage.number(memory, at);
    switch (type) {
      case TRUE_LENGTH -> trueLength(index, ControlMessage.lengthBytes(memory, at));
      case WRITTEN -> written(index, ControlMessage.immediate(memory, at));
      default -> {
        return false;
      }
    }
    return true;
  }

  @Override
  public long started() {
    return 0;
  }

  @Override
  public long finished() {
    return 0;
  }

  @Override
  public long firstUnseen() {
    return 0;
  }

  private void trueLength(long index, long lengthBytes) {
    IncomingReceive request = inFlight(index);
    if (request == null || !request.trueLength(request.sub(index), lengthBytes)) {
      dropped++;
    }
    failIfPeerIsDone();
  }

  /** A stripe was written again. */
  private void written(long index, int immediate) {
    IncomingReceive request = inFlight(index);
    if (request == null || !request.written(request.sub(index), immediate)) {
      dropped++;
    } else {
      stripes++;
    }
    failIfPeerIsDone();
  }

  /** Immediate data that arrived, whether they fitted or not. */
  @Override
  public long arrived() {
    return immediates;
  }

  void announced(int entries) {
    announced += entries;
  }

  /** Entries that were written. */
  @Override
  public long writes() {
    return announced;
  }

  /** How many stripes arrived, of whatever message. */
  long stripes() {
    return stripes;
  }

  void messageArrived() {
    whole++;
    losses.clear();
  }

  @Override
  public int hasStripe(long index, int stripe) {
    if (index >= window.next()) {
      return UNKNOWN;
    }
    IncomingReceive request = inFlight(index);
    return request == null ? ARRIVED : request.hasStripe(request.sub(index), stripe);
  }

  /**
   * Handles the sender's report of how far it is. Messages that it has finished and that did not
   * arrive are late. Entries that were written and that it does not see are late, too, and are
   * written again. {@link #check} fails the messages if something is late for too long.
   *
   * @param finished messages that it sent to the end
   * @param unseen the first receive whose entry it does not see
   */
  @Override
  public void peerIsAt(long finished, long unseen) {
    IncomingReceive request = inFlight(unseen);
    boolean entriesLost = request != null && request.isWritten();
    losses.set(finished > whole, entriesLost ? unseen : 0);
    if (request != null && entriesLost) {
      request.writeAgain();
    }
  }

  @Override
  public void check(long now, long boundNs) {
    super.check(now, boundNs);
    String late = failure() == null ? losses.overdue(now, boundNs) : null;
    if (late != null) {
      expire(timedOut("irecv from " + link().describePeer(), late, boundNs));
    }
  }

  /** What is beyond fails. */
  @Override
  public void peerStops(long messages) {
    expected = Math.min(expected, messages);
    failIfPeerIsDone();
  }

  /**
   * Stripes may arrive over the broken rail without a completion, and they may be the whole
   * message.
   */
  @Override
  public void queueBroke(Failure why) {
    fail(why);
  }

  void failIfPeerIsDone() {
    if (whole >= expected && failure() == null) {
      fail(new Failure(FailureCause.PEER_CLOSED, 0, "irecv", ""));
    }
  }

  @Override
  void ended(Request request) {
    IncomingReceive receive = (IncomingReceive) request.strategy();
    for (int sub = 0; sub < receive.indices(); sub++) {
      inFlight[receive.slotOf(sub)] = null;
      boolean wasInFlight = window.complete(receive.index() + sub);
      assert wasInFlight : receive.index();
    }
  }

  @Override
  public long test(long request, long[] lengths) {
    int slot = table().slot(request);
    if (slot == RequestTable.NONE) {
      return Result.STALE_REQUEST;
    }
    if (failure(request) != null) {
      // It has no lengths, and perhaps never was a receive: its slot's last one stays current.
      return test(request);
    }
    IncomingReceive receive = (IncomingReceive) request(slot).strategy();
    if (lengths.length < receive.count()) {
      throw new IllegalArgumentException(
          "a group of %d receives has more than %d lengths"
              .formatted(receive.count(), lengths.length));
    }
    long result = test(request);
    if (result >= 0) {
      for (int sub = 0; sub < receive.count(); sub++) {
        lengths[sub] = receive.lengthBytes(sub);
      }
    }
    return result;
  }

  /** Stripes and lengths that fitted nothing in flight. */
  public long dropped() {
    return dropped;
  }

  /** Receive indices in flight. */
  public long inFlight() {
    return window.next() - window.oldest();
  }

  /** Receives that are not reported yet, at once: some more than are in flight. */
  public static int usualReceives() {
    return ProtocolLimits.RECEIVE_WINDOW + 128;
  }
}
