package org.jofi.rdma.message;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.jofi.mr.DataRegistration;
import org.jofi.mr.LocalRegistration;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.rdma.sequence.ReceiveWindow;
import org.jofi.rdma.sequence.SequenceNumbers;
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
public final class Receiver {
  static final int AGAIN = -FabricErrno.EAGAIN;

  private final Connection connection;
  private final MailboxLayout layout;
  private final MemorySegment copy;
  private final LocalRegistration copyRegistration;
  private final MailboxEntry entries;
  private final List<MailboxTarget> targets;
  private final ReceiveWindow window = new ReceiveWindow();
  private final RequestTable table;
  private final ReceiveRequest[] requests;
  private final @Nullable ReceiveRequest[] inFlight =
      new @Nullable ReceiveRequest[MailboxLayout.SLOTS];
  private long dropped;
  private long arrived;
  private long expected = Long.MAX_VALUE;
  private @Nullable Failure failure;

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
    this.connection = connection;
    this.layout = new MailboxLayout(connection.endpoint().dataCount());
    this.copy = copy;
    this.copyRegistration = copyRegistration;
    this.entries =
        new MailboxEntry(copy, layout, connection.parties().toGeneration(), maxMessageBytes);
    this.targets = List.copyOf(targets);
    table = new RequestTable(receives);
    requests = new ReceiveRequest[receives];
    for (int slot = 0; slot < receives; slot++) {
      requests[slot] = new ReceiveRequest(this, slot);
    }
  }

  Connection connection() {
    return connection;
  }

  /**
   * Receives; as {@link org.jofi.transport.RecvComm#irecv(int, long[], long[], int[],
   * org.jofi.transport.Registration[])}.
   *
   * @param registrations cover the ranges, and are leased by the caller until the request is over
   */
  public long receive(
      int count, long[] addresses, long[] lengths, int[] tags, DataRegistration[] registrations) {
    Failure broken = failure;
    if (table.inUse() == table.size()) {
      return Result.TRY_AGAIN;
    }
    if (broken != null) {
      return failed(broken);
    }
    if (!beginUse(count, registrations)) {
      return failed(
          new Failure(FailureCause.CLOSED, 0, "irecv", "its memory was deregistered meanwhile"));
    }
    long number = window.post();
    if (number == ReceiveWindow.FULL) {
      endUse(count, registrations);
      return Result.TRY_AGAIN;
    }
    int slot = table.begin();
    ReceiveRequest request = requests[slot];
    request.start(number, count, connection.nextControlRail());
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
    long id = table.id(slot);
    connection.endpoint().pending().submit(request);
    return id;
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

  private long failed(Failure why) {
    int slot = table.begin();
    table.fail(slot, why);
    return table.id(slot);
  }

  /** Writes a message's entries into the sender's mailbox: 0, or a negative errno. */
  int writeEntries(ReceiveRequest request, int rail, long number, int count) {
    RailPort port = connection.control(rail);
    MailboxTarget target = targets.get(rail);
    int at = layout.slotOffset(number);
    return port.write(
        request,
        0,
        copy.address() + at,
        layout.writeBytes(count),
        copyRegistration.descriptor(rail),
        connection.controlPeer(rail),
        target.address() + at,
        target.key(),
        PostFlags.NONE);
  }

  /**
   * Immediate data for this communicator arrived.
   *
   * @param bits checked
   */
  public void immediate(int bits) {
    long number = window.inFlight(ImmediateData.sequence(bits));
    ReceiveRequest request =
        number == SequenceNumbers.OUTSIDE ? null : inFlight[ReceiveWindow.slot(number)];
    if (request == null || !request.stripe(ImmediateData.subReceive(bits), bits)) {
      dropped++;
    }
    failIfPeerIsDone();
  }

  /** A true length for this communicator arrived, in a checked message. */
  public void trueLength(long messageNumber, int subReceive, long lengthBytes) {
    ReceiveRequest request =
        window.isInFlight(messageNumber) ? inFlight[ReceiveWindow.slot(messageNumber)] : null;
    if (request == null || !request.trueLength(subReceive, lengthBytes)) {
      dropped++;
    }
    failIfPeerIsDone();
  }

  void messageArrived() {
    arrived++;
  }

  /** The peer started so many messages, and starts no more: what is beyond fails. */
  public void peerClosed(long messages) {
    expected = Math.min(expected, messages);
    failIfPeerIsDone();
  }

  private void failIfPeerIsDone() {
    if (arrived >= expected && failure == null) {
      fail(new Failure(FailureCause.PEER_CLOSED, 0, "irecv", ""));
    }
  }

  void over(ReceiveRequest request, int slot, long totalBytes, @Nullable Failure why) {
    long number = request.messageNumber();
    inFlight[ReceiveWindow.slot(number)] = null;
    boolean wasInFlight = window.complete(number);
    assert wasInFlight : number;
    if (why == null) {
      table.succeed(slot, totalBytes);
    } else {
      table.fail(slot, why);
      // The peer never learns of it: nothing after it can be relied upon.
      fail(why);
    }
  }

  /** How a request fares; without progress, which is the endpoint's. */
  public long test(long request) {
    return table.test(request);
  }

  /**
   * As {@link #test(long)}, and tells each length of a group that is done.
   *
   * @param lengths takes them
   * @throws IllegalArgumentException if it is shorter than the group
   */
  public long test(long request, long[] lengths) {
    int slot = table.slot(request);
    if (slot == RequestTable.NONE) {
      return Result.STALE_REQUEST;
    }
    ReceiveRequest receive = requests[slot];
    if (lengths.length < receive.count()) {
      throw new IllegalArgumentException(
          "a group of %d receives has more than %d lengths"
              .formatted(receive.count(), lengths.length));
    }
    long result = table.test(request);
    if (result >= 0) {
      for (int sub = 0; sub < receive.count(); sub++) {
        lengths[sub] = receive.lengthBytes(sub);
      }
    }
    return result;
  }

  /** How a request failed, or null. */
  public @Nullable Failure failure(long request) {
    return table.failure(request);
  }

  /** Fails what is in flight, and all that is received from now on. */
  public void fail(Failure why) {
    if (failure == null) {
      failure = why;
      for (int slot = 0; slot < requests.length; slot++) {
        if (table.isActive(slot)) {
          requests[slot].fail(why);
        }
      }
    }
  }

  /** Whether nothing of it is in flight. */
  public boolean isQuiet() {
    return table.active() == 0;
  }

  /** Why it failed; null while it works. */
  public @Nullable Failure failure() {
    return failure;
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
