package org.jofi.rdma.message;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.jofi.mr.DataRegistration;
import org.jofi.mr.LocalRegistration;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.WriteCompletions;
import org.jofi.rdma.sequence.ReceiveWindow;
import org.jofi.rdma.sequence.SequenceNumbers;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxEntry;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The receiving side of a connection: writes entries into the sender's mailbox, and counts what
 * arrives. Used with the endpoint's lock held.
 */
public final class Receiver extends Direction {
  /** {@link #hasStripe}: it arrived. */
  public static final int ARRIVED = 1;

  /** {@link #hasStripe}: it did not. */
  public static final int MISSING = 0;

  /** {@link #hasStripe}: there is no such message. */
  public static final int UNKNOWN = -1;

  static final int AGAIN = -FabricErrno.EAGAIN;

  private final MailboxLayout layout;
  private final long entryFlags;

  /** A message has one write for each chunk; what the peer waits for is the message. */
  private final long chunkFlags;

  private final MemorySegment copy;
  private final LocalRegistration copyRegistration;
  private final MailboxEntry entries;
  private final List<MailboxTarget> targets;
  private final ReceiveWindow window = new ReceiveWindow();
  private final ReceiveRequest[] requests;
  private final @Nullable StagedReceive[] staged;
  private final Request[] current;
  private final @Nullable Incoming[] inFlight = new @Nullable Incoming[MailboxLayout.SLOTS];
  private final Behind behind = new Behind();
  private long dropped;
  private long arrived;
  private long stripes;
  private long immediates;
  private long messagesOffered;
  private long expected = Long.MAX_VALUE;

  /**
   * @param copy this side's copy of the mailbox, from which entries are written
   * @param copyRegistration of the copy, on the control rails
   * @param targets the sender's mailbox, per control rail
   * @param receives not reported yet, at most; more than are in flight
   */
  public Receiver(
      Connection connection,
      MemorySegment copy,
      LocalRegistration copyRegistration,
      List<MailboxTarget> targets,
      long maxMessageBytes,
      int receives) {
    super(connection, RequestTable.MESSAGES, receives);
    this.layout = new MailboxLayout(connection().endpoint().dataCount());
    this.entryFlags = EntryWrites.flags(connection().controlNic());
    this.chunkFlags = WriteCompletions.whenDelivered(connection().controlNic());
    this.copy = copy;
    this.copyRegistration = copyRegistration;
    this.entries =
        new MailboxEntry(copy, layout, connection().parties().toGeneration(), maxMessageBytes);
    this.targets = List.copyOf(targets);
    requests = new ReceiveRequest[table().size()];
    for (int slot = 0; slot < requests.length; slot++) {
      requests[slot] = new ReceiveRequest(this, slot);
    }
    staged = new @Nullable StagedReceive[requests.length];
    current = Arrays.copyOf(requests, requests.length, Request[].class);
  }

  @Override
  Request request(int slot) {
    return current[slot];
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
    int slot = window.isFull() ? RequestTable.NONE : begin();
    if (slot == RequestTable.NONE) {
      endUse(count, registrations);
      return Result.TRY_AGAIN;
    }
    long number = window.post();
    ReceiveRequest request = requests[slot];
    current[slot] = request;
    request.start(number, count);
    for (int sub = 0; sub < count; sub++) {
      DataRegistration memory = registrations[sub];
      long first = lengths[sub] == 0 ? memory.range().address() : addresses[sub];
      entries.put(number, sub, memory.remoteAddress(0, first), lengths[sub], tags[sub]);
      for (int rail = 0; rail < layout.dataRails(); rail++) {
        entries.putKey(number, sub, rail, memory.key(rail));
      }
      request.expect(sub, lengths[sub], memory);
    }
    entries.seal(number, count);
    inFlight[ReceiveWindow.slot(number)] = request;
    long id = table().id(slot);
    connection().endpoint().pending().submit(request);
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
    StagingRing ring = window.isFull() ? null : space.take(lengthBytes);
    if (ring == null) {
      return Result.TRY_AGAIN;
    }
    int slot = begin();
    if (slot == RequestTable.NONE) {
      space.give(ring);
      return Result.TRY_AGAIN;
    }
    long number = window.post();
    StagedReceive request = staged[slot];
    if (request == null) {
      request = new StagedReceive(this, slot);
      staged[slot] = request;
    }
    current[slot] = request;
    inFlight[ReceiveWindow.slot(number)] = request;
    request.start(number, address, lengthBytes, tag, space, ring);
    long id = table().id(slot);
    connection().endpoint().pending().submit(request);
    return id;
  }

  /** Writes the offer of a chunk into the sender's mailbox: 0, or a negative errno. */
  int offer(
      StagedReceive request,
      int rail,
      long chunk,
      StagingRing ring,
      long lengthBytes,
      int tag,
      int shift) {
    long number = request.messageNumber();
    int entry = MailboxEntry.ring(chunk);
    DataRegistration memory = ring.registration();
    entries.putChunk(
        number, chunk, memory.remoteAddress(0, ring.block(chunk)), lengthBytes, tag, shift);
    for (int data = 0; data < layout.dataRails(); data++) {
      entries.putKey(number, entry, data, memory.key(data));
    }
    entries.sealChunk(number, chunk);
    PeerRails rails = connection().control();
    MailboxTarget target = targets.get(rail);
    int at = layout.slotOffset(number) + entry * layout.entryBytes();
    return rails
        .port(rail)
        .write(
            request,
            entry,
            copy.address() + at,
            layout.entryBytes(),
            copyRegistration.descriptor(rail),
            rails.peer(rail),
            target.address() + at,
            target.key(),
            chunkFlags);
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
   * Writes a message's entries into the sender's mailbox: 0, or a negative errno.
   *
   * @param again whether an earlier write of them failed: this one completes when it has landed, so
   *     that it cannot land on the entries of a later message of the slot
   */
  int writeEntries(ReceiveRequest request, int rail, long number, int count, boolean again) {
    PeerRails rails = connection().control();
    MailboxTarget target = targets.get(rail);
    int at = layout.slotOffset(number);
    return rails
        .port(rail)
        .write(
            request,
            0,
            copy.address() + at,
            layout.writeBytes(count),
            copyRegistration.descriptor(rail),
            rails.peer(rail),
            target.address() + at,
            target.key(),
            again ? PostFlags.DELIVERY_COMPLETE : entryFlags);
  }

  /**
   * Immediate data for this communicator arrived.
   *
   * @param bits checked
   */
  public void immediate(int bits) {
    immediates++;
    long number = window.inFlight(ImmediateData.sequence(bits));
    Incoming request =
        number == SequenceNumbers.OUTSIDE ? null : inFlight[ReceiveWindow.slot(number)];
    if (request == null || !request.stripe(ImmediateData.subReceive(bits), bits)) {
      dropped++;
    } else {
      stripes++;
      hear();
    }
    failIfPeerIsDone();
  }

  /** A true length for this communicator arrived, in a checked message. */
  public void trueLength(long messageNumber, int subReceive, long lengthBytes) {
    Incoming request =
        window.isInFlight(messageNumber) ? inFlight[ReceiveWindow.slot(messageNumber)] : null;
    if (request == null || !request.trueLength(subReceive, lengthBytes)) {
      dropped++;
    }
    failIfPeerIsDone();
  }

  /** A stripe was written again, as a checked message tells. */
  public void written(long messageNumber, int immediate) {
    Incoming request =
        window.isInFlight(messageNumber) ? inFlight[ReceiveWindow.slot(messageNumber)] : null;
    if (request == null || !request.written(ImmediateData.subReceive(immediate), immediate)) {
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

  void messageOffered() {
    messagesOffered++;
  }

  /** Of how many messages the entries were written. */
  public long messagesOffered() {
    return messagesOffered;
  }

  /** How many stripes arrived, of whatever message. */
  long stripes() {
    return stripes;
  }

  void messageArrived() {
    arrived++;
    behind.clear();
  }

  /**
   * Whether a stripe arrived that the sender asks for: {@link #ARRIVED}, {@link #MISSING}, or
   * {@link #UNKNOWN} if there is no such message, or none whose stripes are written again.
   */
  public int hasStripe(long messageNumber, int subReceive, int stripe) {
    if (messageNumber >= window.next()) {
      return UNKNOWN;
    }
    Incoming request =
        window.isInFlight(messageNumber) ? inFlight[ReceiveWindow.slot(messageNumber)] : null;
    return request == null ? ARRIVED : request.hasStripe(subReceive, stripe);
  }

  /**
   * Handles the sender's report of how far it is. Messages that it has finished and that did not
   * arrive are late. Entries that were written and that it does not see are late, too, and are
   * written again. {@link #check} fails the messages if something is late for too long.
   *
   * @param finished messages that it sent to the end
   * @param unseen the first message whose entries it does not see
   */
  public void peerIsAt(long finished, long unseen) {
    Incoming request = window.isInFlight(unseen) ? inFlight[ReceiveWindow.slot(unseen)] : null;
    boolean entriesLost = request != null && request.isWritten();
    behind.set(finished > arrived, entriesLost ? unseen : 0);
    if (request != null && entriesLost) {
      request.writeAgain();
    }
  }

  @Override
  public void check(long now, long boundNs) {
    super.check(now, boundNs);
    String late = failure() == null ? behind.overdue(now, boundNs) : null;
    if (late != null) {
      expire(timedOut("irecv from " + connection().describePeer(), late, boundNs));
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
    long number = ((Incoming) request).messageNumber();
    inFlight[ReceiveWindow.slot(number)] = null;
    boolean wasInFlight = window.complete(number);
    assert wasInFlight : number;
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
    Incoming receive = (Incoming) current[slot];
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

  /** Receives in flight; a group counts once. */
  public long inFlight() {
    return window.next() - window.oldest();
  }
}
