package org.jofi.rdma.message;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.fabric.FabricErrno;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.sequence.ReceiveIndices;
import org.jofi.rdma.sequence.ReceiveWindow;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The receiving side of a connection: writes entries into the sender's mailbox, and counts what
 * arrives. Used with the endpoint's lock held.
 */
public final class Receiver extends RequestQueue {
  /** {@link #hasStripe}: it arrived. */
  public static final int ARRIVED = 1;

  /** {@link #hasStripe}: it did not. */
  public static final int MISSING = 0;

  /** {@link #hasStripe}: there is no such message. */
  public static final int UNKNOWN = -1;

  static final int AGAIN = -FabricErrno.EAGAIN;

  private final Announcer announcer;
  private final ReceiveWindow window = new ReceiveWindow();
  private final BySlot<ReceiveRequest> requests =
      new BySlot<>(slot -> new ReceiveRequest(this, slot));
  private final BySlot<StagedReceive> staged = new BySlot<>(slot -> new StagedReceive(this, slot));
  private final BySlot<Request> current = new BySlot<>(requests::get);
  private final @Nullable Incoming[] inFlight = new @Nullable Incoming[MailboxLayout.ENTRIES];
  private final LossDetector losses = new LossDetector();
  private final AnnouncementQueue unannounced;
  private long dropped;
  private long arrived;
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
      LocalRegistration copyRegistration,
      List<MailboxTarget> targets,
      int receives) {
    super(link, RequestTable.MESSAGES, receives);
    announcer = new Announcer(link, copy, copyRegistration, targets);
    unannounced = new AnnouncementQueue(this);
  }

  @Override
  Request request(int slot) {
    return current.get(slot);
  }

  /**
   * Receives; as {@link org.jofi.transport.RecvComm#irecv(int, long[], long[], int[],
   * org.jofi.transport.Registration[])}.
   *
   * @param registrations cover the ranges, and are leased by the caller until the request is over
   */
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
    ReceiveRequest request = requests.get(slot);
    long first = window.post(count);
    request.start(first, count);
    for (int sub = 0; sub < count; sub++) {
      DataRegistration memory = registrations[sub];
      long address = lengths[sub] == 0 ? memory.range().address() : addresses[sub];
      announcer.put(first + sub, address, lengths[sub], tags[sub], memory);
      request.expect(sub, lengths[sub], memory);
    }
    return submit(request);
  }

  /** Announces a request that was set up, now or when there is room; its id. */
  private <T extends Request & Incoming> long submit(T request) {
    for (int sub = 0; sub < request.indices(); sub++) {
      inFlight[ReceiveWindow.slot(request.index() + sub)] = request;
    }
    current.set(request.slot(), request);
    long id = table().id(request.slot());
    unannounced.announce();
    return id;
  }

  /**
   * Receives into device memory that no NIC reaches, through host blocks.
   *
   * @param space blocks for that memory, registered with this endpoint
   */
  public long receiveStaged(StagingSpace space, long address, long lengthBytes, int tag) {
    Failure broken = failure();
    if (broken != null) {
      return failed(broken);
    }
    StagingRing ring = window.hasRoom(1) ? space.take(lengthBytes) : null;
    if (ring == null) {
      return Result.TRY_AGAIN;
    }
    int entries = StagedReceive.entries(space, ring, lengthBytes);
    int slot = window.hasRoom(entries) ? begin() : RequestTable.NONE;
    if (slot == RequestTable.NONE) {
      space.give(ring);
      return Result.TRY_AGAIN;
    }
    StagedReceive request = staged.get(slot);
    request.start(window.post(entries), entries, address, lengthBytes, tag, space, ring);
    return submit(request);
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

  /**
   * Immediate data for this communicator arrived.
   *
   * @param bits checked
   */
  public void immediate(int bits) {
    immediates++;
    long index = window.inFlight(ImmediateData.indexBits(bits));
    Incoming request = index == ReceiveIndices.OUTSIDE ? null : inFlight[ReceiveWindow.slot(index)];
    if (request == null || !request.stripe(sub(request, index), bits)) {
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
  @Nullable Incoming inFlight(long index) {
    return window.isInFlight(index) ? inFlight[ReceiveWindow.slot(index)] : null;
  }

  /** Which of a request's receives an index is. */
  private static int sub(Incoming request, long index) {
    return (int) (index - request.index());
  }

  /** A true length for this communicator arrived, in a checked message. */
  public void trueLength(long index, long lengthBytes) {
    Incoming request = inFlight(index);
    if (request == null || !request.trueLength(sub(request, index), lengthBytes)) {
      dropped++;
    }
    failIfPeerIsDone();
  }

  /** A stripe was written again, as a checked message tells. */
  public void written(long index, int immediate) {
    Incoming request = inFlight(index);
    if (request == null || !request.written(sub(request, index), immediate)) {
      dropped++;
    } else {
      stripes++;
    }
    failIfPeerIsDone();
  }

  /** How many immediate data arrived, whether they fitted or not. */
  public long immediates() {
    return immediates;
  }

  void announced(int entries) {
    announced += entries;
  }

  /** How many entries were written. */
  public long announced() {
    return announced;
  }

  /** How many stripes arrived, of whatever message. */
  long stripes() {
    return stripes;
  }

  void messageArrived() {
    arrived++;
    losses.clear();
  }

  /**
   * Whether a stripe arrived that the sender asks for: {@link #ARRIVED}, {@link #MISSING}, or
   * {@link #UNKNOWN} if there is no such receive, or none whose stripes are written again.
   */
  public int hasStripe(long index, int stripe) {
    if (index >= window.next()) {
      return UNKNOWN;
    }
    Incoming request = inFlight(index);
    return request == null ? ARRIVED : request.hasStripe(sub(request, index), stripe);
  }

  /**
   * Handles the sender's report of how far it is. Messages that it has finished and that did not
   * arrive are late. Entries that were written and that it does not see are late, too, and are
   * written again. {@link #check} fails the messages if something is late for too long.
   *
   * @param finished messages that it sent to the end
   * @param unseen the first receive whose entry it does not see
   */
  public void peerIsAt(long finished, long unseen) {
    Incoming request = inFlight(unseen);
    boolean entriesLost = request != null && request.isWritten();
    losses.set(finished > arrived, entriesLost ? unseen : 0);
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

  /** The peer started so many messages, and starts no more: what is beyond fails. */
  public void peerClosed(long messages) {
    expected = Math.min(expected, messages);
    failIfPeerIsDone();
  }

  void failIfPeerIsDone() {
    if (arrived >= expected && failure() == null) {
      fail(new Failure(FailureCause.PEER_CLOSED, 0, "irecv", ""));
    }
  }

  @Override
  void ended(Request request) {
    Incoming incoming = (Incoming) request;
    for (long index = incoming.index(); index < incoming.index() + incoming.indices(); index++) {
      inFlight[ReceiveWindow.slot(index)] = null;
      boolean wasInFlight = window.complete(index);
      assert wasInFlight : index;
    }
  }

  @Override
  public boolean waits() {
    return failure() == null && isActive();
  }

  /**
   * As {@link #test(long)}, and tells each length of a group that is done.
   *
   * @param lengths takes them
   * @throws IllegalArgumentException if it is shorter than the group, which did not fail
   */
  public long test(long request, long[] lengths) {
    int slot = table().slot(request);
    if (slot == RequestTable.NONE) {
      return Result.STALE_REQUEST;
    }
    if (failure(request) != null) {
      // It has no lengths, and perhaps never was a receive: its slot's last one stays current.
      return test(request);
    }
    Incoming receive = (Incoming) request(slot);
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
