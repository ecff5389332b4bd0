package org.jofi.rdma.message;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jofi.mr.DataRegistration;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.schedule.StripePlan;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.rdma.sequence.SequenceNumbers;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.MailboxEntry;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The sending side of a connection: matches sends with the receives in its mailbox, and writes.
 * Used with the endpoint's lock held.
 *
 * <p>A send takes the oldest receive of its tag. The search stops at the first message whose entry
 * is not there, although later ones may be: it may be of the same tag.
 */
public final class Sender extends Direction {
  private static final int SLOTS = MailboxLayout.SLOTS;

  private final StripeScheduler scheduler;
  private final boolean writesData;
  private final MailboxEntry mailbox;
  private final SendRequest[] requests;
  private final @Nullable StagedSend[] staged;
  private final Request[] current;
  private final byte[] groups = new byte[SLOTS];
  private final byte[] matched = new byte[SLOTS];
  private long oldest = SequenceNumbers.FIRST;
  private long started;
  private long finished;
  private long stripesWritten;
  private boolean refused;

  /**
   * @param mailbox the memory that the peer writes entries into, registered and zeroed
   * @param scheduler the endpoint's
   * @param writesData whether stripes carry immediate data, rather than being announced
   * @param maxMessageBytes longest receive that is accepted
   * @param sends in flight at most
   */
  public Sender(
      Connection connection,
      MemorySegment mailbox,
      StripeScheduler scheduler,
      boolean writesData,
      long maxMessageBytes,
      int sends) {
    super(connection, RequestTable.MESSAGES, sends);
    this.scheduler = scheduler;
    this.writesData = writesData;
    this.mailbox =
        new MailboxEntry(
            mailbox,
            new MailboxLayout(connection().endpoint().dataCount()),
            connection().parties().fromGeneration(),
            maxMessageBytes);
    requests = new SendRequest[table().size()];
    for (int slot = 0; slot < requests.length; slot++) {
      requests[slot] = new SendRequest(this, slot);
    }
    staged = new @Nullable StagedSend[requests.length];
    current = Arrays.copyOf(requests, requests.length, Request[].class);
  }

  @Override
  Request request(int slot) {
    return current[slot];
  }

  boolean writesData() {
    return writesData;
  }

  MailboxEntry mailbox() {
    return mailbox;
  }

  /**
   * Sends; as {@link org.jofi.transport.SendComm#isend}.
   *
   * @param registration covers the range, and is leased by the caller until the request is over
   */
  public long send(long address, long lengthBytes, int tag, DataRegistration registration) {
    return send(address, lengthBytes, tag, registration, null);
  }

  /**
   * Sends device memory that no NIC reaches, through host blocks.
   *
   * @param space blocks for that memory, registered with this endpoint
   */
  public long sendStaged(StagingSpace space, long address, long lengthBytes, int tag) {
    return send(address, lengthBytes, tag, null, space);
  }

  private long send(
      long address,
      long lengthBytes,
      int tag,
      @Nullable DataRegistration registration,
      @Nullable StagingSpace space) {
    Failure broken = failure();
    if (broken != null) {
      return failed(broken);
    }
    for (long number = oldest; number < oldest + SLOTS; number++) {
      int receives = receives(number);
      if (receives == MailboxEntry.MALFORMED) {
        Failure why =
            new Failure(
                FailureCause.PROTOCOL_VIOLATION,
                0,
                "mailbox entry of message " + number,
                mailbox.fault().words());
        fail(why);
        return failed(why);
      }
      if (receives == MailboxEntry.ABSENT) {
        refused = true;
        return Result.TRY_AGAIN;
      }
      int taken = matched[slot(number)];
      for (int sub = 0; sub < receives; sub++) {
        if ((taken & 1 << sub) == 0 && mailbox.tag(number, sub) == tag) {
          // What a peer may still change is read once, and clamped.
          long word = mailbox.lengthWord(number, sub);
          return registration == null || MailboxEntry.isStaged(word)
              ? startStaged(number, sub, word, address, lengthBytes, registration, space)
              : start(number, sub, word, address, lengthBytes, registration);
        }
      }
    }
    return Result.TRY_AGAIN;
  }

  private int receives(long number) {
    int slot = slot(number);
    if (groups[slot] == 0) {
      int receives = mailbox.poll(number);
      if (receives <= 0) {
        return receives;
      }
      groups[slot] = (byte) receives;
      hear();
    }
    return groups[slot];
  }

  private long start(
      long number,
      int sub,
      long word,
      long address,
      long lengthBytes,
      DataRegistration registration) {
    if (!registration.beginUse()) {
      return failed(deregistered("isend"));
    }
    int slot = begin();
    if (slot == RequestTable.NONE) {
      registration.endUse();
      return Result.TRY_AGAIN;
    }
    refused = false;
    SendRequest request = requests[slot];
    current[slot] = request;
    long room = MailboxEntry.lengthBytes(word);
    long length = Math.min(lengthBytes, room);
    request.target(number, sub, mailbox.remoteAddress(number, sub), length < room);
    for (int rail = 0; rail < connection().data().count(); rail++) {
      request.key(rail, mailbox.key(number, sub, rail));
    }
    take(number, sub);
    started++;
    long from = length == 0 ? registration.range().address() : address;
    schedule(length, request.plan());
    request.start(from, length, registration);
    long id = table().id(slot);
    connection().endpoint().pending().submit(request);
    return id;
  }

  private long startStaged(
      long number,
      int sub,
      long word,
      long address,
      long lengthBytes,
      @Nullable DataRegistration registration,
      @Nullable StagingSpace space) {
    long room = MailboxEntry.lengthBytes(word);
    long length = Math.min(lengthBytes, room);
    if (registration != null && !registration.beginUse()) {
      return failed(deregistered("isend"));
    }
    StagingRing ring = space == null ? null : space.take(length);
    int slot = space != null && ring == null ? RequestTable.NONE : begin();
    if (slot == RequestTable.NONE) {
      if (registration != null) {
        registration.endUse();
      }
      if (space != null && ring != null) {
        space.give(ring);
      }
      return Result.TRY_AGAIN;
    }
    refused = false;
    StagedSend request = staged[slot];
    if (request == null) {
      request = new StagedSend(this, slot);
      staged[slot] = request;
    }
    current[slot] = request;
    request.target(
        number,
        sub,
        MailboxEntry.isStaged(word) ? 1L << MailboxEntry.chunkShift(word) : 0,
        mailbox.remoteAddress(number, sub),
        room);
    for (int rail = 0; rail < connection().endpoint().dataCount(); rail++) {
      request.key(rail, mailbox.key(number, sub, rail));
    }
    take(number, sub);
    started++;
    long id = table().id(slot);
    request.start(address, length, registration, space, ring);
    connection().endpoint().pending().submit(request);
    return id;
  }

  private void take(long number, int sub) {
    matched[slot(number)] |= (byte) (1 << sub);
    while (groups[slot(oldest)] != 0
        && (matched[slot(oldest)] & 0xff) == (1 << groups[slot(oldest)]) - 1) {
      groups[slot(oldest)] = 0;
      matched[slot(oldest)] = 0;
      oldest++;
    }
  }

  private static int slot(long number) {
    return (int) number & (SLOTS - 1);
  }

  /** Plans the stripes of what is sent, over the rails that work. */
  void schedule(long length, StripePlan plan) {
    PeerRails rails = connection().data();
    for (int rail = 0; rail < rails.count(); rail++) {
      if (rails.port(rail).brokenBy() != null) {
        scheduler.exclude(rail);
      }
    }
    if (scheduler.schedule(length, plan) == 0) {
      // Every rail broke: posting finds that out.
      scheduler.restore(0);
      scheduler.schedule(length, plan);
      scheduler.exclude(0);
    }
  }

  @Override
  void ended(Request request) {
    if (request.failure() == null) {
      finished++;
    }
  }

  @Override
  public boolean waits() {
    return failure() == null && (isActive() || refused);
  }

  /** The receiver told whether a stripe arrived; whether that was asked. */
  public boolean answered(
      long messageNumber, int subReceive, int stripe, int tries, boolean arrived) {
    for (int slot = 0; slot < requests.length; slot++) {
      if (requests[slot].is(messageNumber, subReceive)) {
        return requests[slot].answered(stripe, tries, arrived);
      }
    }
    return false;
  }

  /** How many messages were sent to the end; a receive of a group counts as one. */
  public long finished() {
    return finished;
  }

  void stripeWritten() {
    stripesWritten++;
  }

  /** How many stripes were written with their immediate data. */
  public long stripesWritten() {
    return stripesWritten;
  }

  /** The messages whose entries are there, of all so far. */
  public long messagesSeen() {
    long seen = oldest - 1;
    for (long number = oldest; number < oldest + SLOTS; number++) {
      seen += receives(number) > 0 ? 1 : 0;
    }
    return seen;
  }

  /** The first message whose entries are not there. */
  public long firstUnseen() {
    long number = oldest;
    while (number < oldest + SLOTS && receives(number) > 0) {
      number++;
    }
    return number;
  }

  /** How many messages were started; a receive of a group counts as one. */
  public long started() {
    return started;
  }

  /** Sends at once. */
  public static int usualSends() {
    return ProtocolLimits.RECEIVE_WINDOW * 2;
  }
}
