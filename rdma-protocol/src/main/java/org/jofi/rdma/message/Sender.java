package org.jofi.rdma.message;

import java.lang.foreign.MemorySegment;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.Posting;
import org.jofi.rdma.schedule.StripePlan;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxReader;
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
 * <p>A send that finds none is queued, and takes the first one of its tag that is seen, before any
 * later send of that tag. While something is queued, every poll looks for the next receive, which
 * no send may see first. So no receive that was seen awaits a queued send, unless there are no
 * blocks to stage it through: it has its receive then, and waits for blocks.
 */
public final class Sender extends RequestQueue {
  private final StripeScheduler scheduler;
  private final boolean writesData;
  private final MailboxReader mailbox;
  private final BySlot<SendRequest> requests = new BySlot<>(slot -> new SendRequest(this, slot));
  private final BySlot<StagedSend> staged = new BySlot<>(slot -> new StagedSend(this, slot));
  private final BySlot<QueuedSend> queued = new BySlot<>(slot -> new QueuedSend(this, slot));
  private final BySlot<Request> current = new BySlot<>(requests::get);
  private final Announcements announcements;
  private final SendQueue queue = new SendQueue();
  private final Posting lookout = new Lookout();

  /** Whether a queued send may have a receive, but no blocks, or no entry of it. */
  private boolean heldUp;

  private long started;
  private long finished;
  private long stripesWritten;

  /**
   * @param mailbox the memory that the peer writes entries into, registered and zeroed
   * @param scheduler the endpoint's
   * @param writesData whether stripes carry immediate data, rather than being announced
   * @param maxMessageBytes longest receive that is accepted
   * @param sends in flight at most
   */
  public Sender(
      PeerLink link,
      MemorySegment mailbox,
      StripeScheduler scheduler,
      boolean writesData,
      long maxMessageBytes,
      int sends) {
    super(link, RequestTable.MESSAGES, sends);
    this.scheduler = scheduler;
    this.writesData = writesData;
    this.mailbox =
        new MailboxReader(
            mailbox,
            new MailboxLayout(link().endpoint().dataCount()),
            link().id().fromGeneration(),
            maxMessageBytes);
    announcements = new Announcements(this.mailbox);
  }

  /** Looks for the receives of what is queued. */
  private final class Lookout extends Posting {
    @Override
    protected boolean post() {
      look();
      return queue.isEmpty();
    }
  }

  @Override
  Request request(int slot) {
    return current.get(slot);
  }

  boolean writesData() {
    return writesData;
  }

  MailboxReader mailbox() {
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
    if (!queue.isEmpty()) {
      look();
    }
    long index = failure() == null && !isFull() ? find(tag) : Announcements.NOWHERE;
    Failure broken = failure();
    if (broken != null) {
      return failed(broken);
    }
    if (isFull()) {
      return Result.TRY_AGAIN;
    }
    if (registration != null && !registration.beginUse()) {
      return failed(deregistered("isend"));
    }
    int slot = begin();
    long id = table().id(slot);
    if (index != Announcements.NOWHERE) {
      announcements.take(index);
    }
    if (index == Announcements.NOWHERE
        || !start(slot, index, address, lengthBytes, registration, space)) {
      QueuedSend send = queued.get(slot);
      current.set(slot, send);
      send.start(address, lengthBytes, tag, registration, space, index);
      queue.add(send);
      link().endpoint().pending().watch(lookout);
    }
    return id;
  }

  /** The oldest receive of a tag that is free, or {@link Announcements#NOWHERE}. */
  private long find(int tag) {
    long index = announcements.find(tag);
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
  private long see() {
    long index = announcements.see();
    if (index > 0) {
      hear();
    } else if (index == MailboxReader.MALFORMED) {
      fail(
          new Failure(
              FailureCause.PROTOCOL_VIOLATION,
              0,
              "mailbox entry of receive " + announcements.unseen(),
              mailbox.fault().words()));
    }
    return index;
  }

  /** Starts what is queued and can start. */
  private void look() {
    startHeldUp();
    while (failure() == null && !queue.isEmpty()) {
      long index = see();
      if (index <= 0) {
        return;
      }
      QueuedSend send = queue.first(announcements.tag(index));
      if (send != null) {
        send.meet(index);
        announcements.take(index);
        startQueued(send);
      }
    }
  }

  /** Tries anew what had no blocks, or no entry. */
  private void startHeldUp() {
    if (!heldUp) {
      return;
    }
    heldUp = false;
    QueuedSend send = queue.first();
    while (send != null && failure() == null) {
      QueuedSend next = send.next();
      if (send.index() != Announcements.NOWHERE) {
        startQueued(send);
      }
      send = next;
    }
  }

  private void startQueued(QueuedSend send) {
    if (start(
        send.slot(),
        send.index(),
        send.address(),
        send.lengthBytes(),
        send.registration(),
        send.space())) {
      queue.remove(send);
      send.handedOver();
    }
  }

  /**
   * Takes back a send that no receive was found for yet; as {@link
   * org.jofi.transport.SendComm#cancel}.
   */
  public boolean cancel(long request) {
    int slot = table().slot(request);
    if (slot == RequestTable.NONE
        || !table().isActive(slot)
        || !(request(slot) instanceof QueuedSend send)
        || send.index() != Announcements.NOWHERE) {
      return false;
    }
    queue.remove(send);
    send.withdraw();
    send.endUse();
    table().takeBack(slot);
    return true;
  }

  /**
   * Starts a send to a receive that was taken for it.
   *
   * @return false if its entry is not there any more, or there are no blocks to stage it through
   *     now: nothing was done
   */
  private boolean start(
      int slot,
      long index,
      long address,
      long lengthBytes,
      @Nullable DataRegistration registration,
      @Nullable StagingSpace space) {
    if (!mailbox.isLoaded(index) && mailbox.poll(index) <= 0) {
      heldUp = true;
      return false;
    }
    long room = mailbox.lengthBytes();
    long length = Math.min(lengthBytes, room);
    if (registration == null || mailbox.isStaged()) {
      return startStaged(slot, index, address, length, registration, space);
    }
    SendRequest request = requests.get(slot);
    current.set(slot, request);
    request.target(index, mailbox.remoteAddress(), length < room);
    for (int rail = 0; rail < link().data().count(); rail++) {
      request.key(rail, mailbox.key(rail));
    }
    started++;
    long from = length == 0 ? registration.range().address() : address;
    schedule(length, request.plan());
    request.start(from, length, registration);
    link().endpoint().pending().submit(request);
    return true;
  }

  private boolean startStaged(
      int slot,
      long index,
      long address,
      long length,
      @Nullable DataRegistration registration,
      @Nullable StagingSpace space) {
    StagingRing ring = space == null ? null : space.take(length);
    if (space != null && ring == null) {
      heldUp = true;
      return false;
    }
    StagedSend request = staged.get(slot);
    current.set(slot, request);
    request.target(index, mailbox);
    for (int rail = 0; rail < link().endpoint().dataCount(); rail++) {
      request.key(rail, mailbox.key(rail));
    }
    started++;
    request.start(address, length, registration, space, ring);
    link().endpoint().pending().submit(request);
    return true;
  }

  /** Plans the stripes of what is sent, over the rails that work. */
  void schedule(long length, StripePlan plan) {
    PeerRails rails = link().data();
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
    if (request instanceof QueuedSend send) {
      queue.remove(send);
    } else if (request.failure() == null) {
      finished++;
    }
  }

  @Override
  public boolean waits() {
    return failure() == null && isActive();
  }

  /** The receiver told whether a stripe arrived; whether that was asked. */
  public boolean answered(long index, int stripe, int tries, boolean arrived) {
    for (int slot = 0; slot < table().used(); slot++) {
      SendRequest request = requests.find(slot);
      if (request != null && request.is(index)) {
        return request.answered(stripe, tries, arrived);
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

  /** How many entries are there, of all so far. */
  public long entriesSeen() {
    return announcements.entries();
  }

  /** The first receive whose entry is not there. */
  public long firstUnseen() {
    long first = announcements.firstAbsent();
    for (QueuedSend send = queue.first(); send != null; send = send.next()) {
      long index = send.index();
      if (index != Announcements.NOWHERE && index < first && mailbox.poll(index) <= 0) {
        first = index;
      }
    }
    return first;
  }

  /** How many messages were started; a receive of a group counts as one. */
  public long started() {
    return started;
  }

  /** Sends at once. */
  public static int usualSends() {
    return ProtocolLimits.RECEIVE_WINDOW;
  }
}
