package org.jofi.rdma.message;

import java.lang.foreign.MemorySegment;
import org.jofi.mr.DataRegistration;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.rdma.sequence.SequenceNumbers;
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
public final class Sender {
  private static final int SLOTS = MailboxLayout.SLOTS;

  private final Connection connection;
  private final StripeScheduler scheduler;
  private final boolean writesData;
  private final MailboxEntry mailbox;
  private final RequestTable table;
  private final SendRequest[] requests;
  private final byte[] groups = new byte[SLOTS];
  private final byte[] matched = new byte[SLOTS];
  private long oldest = SequenceNumbers.FIRST;
  private long started;
  private @Nullable Failure failure;

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
    this.connection = connection;
    this.scheduler = scheduler;
    this.writesData = writesData;
    this.mailbox =
        new MailboxEntry(
            mailbox,
            new MailboxLayout(connection.endpoint().dataCount()),
            connection.parties().fromGeneration(),
            maxMessageBytes);
    table = new RequestTable(sends);
    requests = new SendRequest[sends];
    for (int slot = 0; slot < sends; slot++) {
      requests[slot] = new SendRequest(this, slot);
    }
  }

  Connection connection() {
    return connection;
  }

  boolean writesData() {
    return writesData;
  }

  /**
   * Sends; as {@link org.jofi.transport.SendComm#isend}.
   *
   * @param registration covers the range, and is leased by the caller until the request is over
   */
  public long send(long address, long lengthBytes, int tag, DataRegistration registration) {
    if (failure != null) {
      return failed();
    }
    for (long number = oldest; number < oldest + SLOTS; number++) {
      int receives = receives(number);
      if (receives == MailboxEntry.MALFORMED) {
        fail(
            new Failure(
                FailureCause.PROTOCOL_VIOLATION,
                0,
                "mailbox entry of message " + number,
                mailbox.fault().words()));
        return failed();
      }
      if (receives == MailboxEntry.ABSENT) {
        return Result.TRY_AGAIN;
      }
      int taken = matched[slot(number)];
      for (int sub = 0; sub < receives; sub++) {
        if ((taken & 1 << sub) == 0 && mailbox.tag(number, sub) == tag) {
          return start(number, sub, address, lengthBytes, registration);
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
    }
    return groups[slot];
  }

  private long start(
      long number, int sub, long address, long lengthBytes, DataRegistration registration) {
    int slot = table.begin();
    if (slot == RequestTable.NONE) {
      return Result.TRY_AGAIN;
    }
    SendRequest request = requests[slot];
    // What a peer may still change is read once, and clamped.
    long room = Math.max(0, mailbox.lengthBytes(number, sub));
    long length = Math.min(lengthBytes, room);
    request.target(number, sub, mailbox.remoteAddress(number, sub), length < room);
    for (int rail = 0; rail < connection.endpoint().dataCount(); rail++) {
      request.key(rail, mailbox.key(number, sub, rail));
    }
    long id = table.id(slot);
    if (!registration.beginUse()) {
      table.fail(
          slot,
          new Failure(FailureCause.CLOSED, 0, "isend", "its memory was deregistered meanwhile"));
      return id;
    }
    take(number, sub);
    started++;
    long from = length == 0 ? registration.range().address() : address;
    scheduler.schedule(length, request.plan());
    request.start(from, length, registration);
    connection.endpoint().pending().submit(request);
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

  private long failed() {
    Failure why = failure;
    int slot = table.begin();
    if (slot == RequestTable.NONE || why == null) {
      return Result.TRY_AGAIN;
    }
    table.fail(slot, why);
    return table.id(slot);
  }

  void over(int slot, long lengthBytes, @Nullable Failure why) {
    if (why == null) {
      table.succeed(slot, lengthBytes);
    } else {
      table.fail(slot, why);
      // The peer waits for what never comes: nothing after it can be relied upon.
      fail(why);
    }
  }

  /** How a request fares; without progress, which is the endpoint's. */
  public long test(long request) {
    return table.test(request);
  }

  /** How a request failed, or null. */
  public @Nullable Failure failure(long request) {
    return table.failure(request);
  }

  /** Fails what is in flight, once its operations are back, and all that is sent from now on. */
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

  /** How many messages were started; a receive of a group counts as one. */
  public long started() {
    return started;
  }

  /** Sends at once. */
  public static int usualSends() {
    return ProtocolLimits.RECEIVE_WINDOW * 2;
  }
}
