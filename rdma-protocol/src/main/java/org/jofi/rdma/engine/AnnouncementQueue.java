package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.operation.ArrivalBudget;
import org.jofi.rdma.operation.Collector;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.rdma.wire.MailboxWriter;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Announces receives in the order in which they were posted, as there is room for what arrives, and
 * gives them their indices then. Those that are withheld are announced when a later one is, or when
 * the sender waits for announcements.
 *
 * <p><b>Collecting.</b> Entries leave within the call that posts their receive, unless others left
 * since the last poll, or wait for a rail: then they are collected, and leave together with the
 * next poll, in one write. So a single receive loses no time, and a row of them costs one
 * operation. Where a short write is made to complete on delivery, one is under way at a time: such
 * a provider refuses the next one until then.
 *
 * <p><b>Losses.</b> Over several sockets a write is done when it left. The sender tells how far it
 * has seen the entries; if a rail is lost, those after that are written again. This side's copy of
 * them lasts until they were seen.
 */
final class AnnouncementQueue extends Task {
  private final Receiver receiver;
  final AnnouncedReceives announced = new AnnouncedReceives(this);
  final ArrivalBudget.Share room;

  /** This side's copy of the mailbox, and where it is at the sender, on each rail. */
  final MailboxLayout layout;

  private final MailboxWriter copy;
  private final MemorySegment copyMemory;
  private final Descriptors copyRegistration;
  private final List<MailboxTarget> targets;

  /** Whether a short write is made to complete on delivery; one is under way at a time then. */
  final boolean oneAtATime;

  private final Collector collecting;
  private final Task ending = new Ending();
  private final ArrayDeque<AnnouncementWrite> free = new ArrayDeque<>(1);

  /** Writes that are to be posted, or are not back. */
  private final List<AnnouncementWrite> underWay = new ArrayList<>(1);

  /** The first entry that is collected. */
  private long open;

  private int collected;

  /** The last entry of which a provider took the write, of those that are back. */
  private long postedThrough;

  /** The oldest receive that was not announced; null if all were. */
  private @Nullable PostedReceive next;

  /** How many were not announced and are not withheld. */
  private int due;

  long entries;

  /** Whether entries may be lost, and are not written again. */
  private boolean entriesLost;

  boolean stopped;
  private boolean ended;
  private boolean isEnding;

  AnnouncementQueue(
      Receiver receiver,
      MemorySegment copyMemory,
      Descriptors copyRegistration,
      List<MailboxTarget> targets) {
    this.receiver = receiver;
    this.copyMemory = copyMemory;
    this.copyRegistration = copyRegistration;
    this.targets = List.copyOf(targets);
    layout = new MailboxLayout(receiver.link.endpoint.dataRails());
    copy = new MailboxWriter(copyMemory, layout, receiver.link.id.toGeneration());
    room = receiver.link.endpoint.budget().share(this);
    oneAtATime = receiver.link.endpoint.smallWritesNeedDelivery();
    collecting = new Collecting();
  }

  private final class Collecting extends Collector {
    Collecting() {
      super(receiver.link.endpoint.tasks());
    }

    @Override
    public boolean isEmpty() {
      return collected == 0;
    }

    @Override
    public boolean isHeldUp() {
      for (int i = 0; i < underWay.size(); i++) {
        if (oneAtATime || underWay.get(i).isWaiting()) {
          return true;
        }
      }
      return false;
    }

    @Override
    public void submit() {
      submitCollected();
    }
  }

  /** Waits until all that left has arrived, or may be lost. */
  private final class Ending extends Task {
    @Override
    protected boolean advance() {
      if (!receiver.link.sink.isControlWritten()) {
        return false;
      }
      if (receiver.link.sink.takeControlLoss()) {
        lost();
      }
      isEnding = false;
      return true;
    }
  }

  @Override
  protected boolean advance() {
    announce();
    return true;
  }

  void add(PostedReceive receive) {
    if (next == null) {
      next = receive;
    }
    if (!receive.withheld) {
      due++;
      announce();
    }
  }

  /** A receive is over: it is announced no more if it was not yet. */
  void remove(PostedReceive receive) {
    if (receive.index == PostedReceive.NONE) {
      if (!receive.withheld) {
        due--;
      }
      if (receive.equals(next)) {
        next = receive.next();
      }
    }
  }

  void release() {
    for (PostedReceive receive = next; receive != null; receive = receive.next()) {
      if (receive.withheld) {
        receive.withheld = false;
        due++;
      }
    }
    announce();
  }

  /** Announces what waits for an index, when queues have delivered. */
  void announceLater() {
    if (due > 0) {
      receiver.link.endpoint.tasks().defer(this);
    }
  }

  /** Entries that were written, and are not lost. */
  long written() {
    return entriesLost ? Math.min(entries, announced.seen()) : entries;
  }

  void lost() {
    if (stopped) {
      entriesLost = true;
    } else {
      writeAgain(announced.seen() + 1);
    }
  }

  /** Announces what there is room for; the rest when its turn comes. */
  private void announce() {
    if (announceWithRoom()) {
      room.served();
    }
    collecting.leave();
  }

  /** Whether there was room for all that have an entry. */
  private boolean announceWithRoom() {
    PostedReceive receive = next;
    while (due > 0 && receive != null && hasEntries(receive.places())) {
      int places = receive.places();
      if (places > 0 && !room.take(places)) {
        return false;
      }
      if (!receive.withheld) {
        due--;
      }
      next = receive.next();
      if (places > 0) {
        receive.announce(announced.post(receive, places), places);
      } else {
        // Short messages filled it, and it only waits for copies.
        receive.withheld = true;
      }
      receive = next;
    }
    return true;
  }

  /** Whether so many entries of the mailbox are free, and the peer may still look at them. */
  private boolean hasEntries(int count) {
    return !receiver.hasPeerStopped()
        && announced.hasRoom(count)
        && isFree(announced.last() + count);
  }

  void put(long index, long address, long length, int tag, DataRegistration memory) {
    copy.put(index, memory.remoteAddress(0, address), length, tag);
    for (int rail = 0; rail < layout.dataRails(); rail++) {
      copy.putKey(index, rail, memory.key(rail));
    }
    // Of what was handled, the low byte counts.
    copy.seal(index, (int) receiver.eager.handled() & 0xff);
  }

  void begin(Transfer transfer) {
    transfer.begin(Transfer.Kind.WRITE, copyMemory.address(), copyRegistration);
    for (int rail = 0; rail < targets.size(); rail++) {
      MailboxTarget target = targets.get(rail);
      transfer.remote(rail, target.address(), target.key());
    }
  }

  /** Collects the entries of a receive, which are in the copy of the mailbox. */
  void collect(PostedReceive receive) {
    if (collected > 0 && receive.index != open + collected) {
      submitCollected();
    }
    if (collected == 0) {
      open = receive.index;
    }
    collected += receive.indices;
  }

  private void submitCollected() {
    int count = collected;
    collected = 0;
    if (count > 0) {
      write(open, count, false);
    }
  }

  private void write(long first, int count, boolean repeats) {
    if (stopped) {
      return;
    }
    AnnouncementWrite write = free.pollLast();
    if (write == null) {
      write = new AnnouncementWrite(this, receiver.link);
    }
    underWay.add(write);
    write.submit(receiver.link, first, count, repeats);
  }

  void back(AnnouncementWrite write) {
    if (write.wasPosted()) {
      postedThrough = Math.max(postedThrough, write.last());
    }
    underWay.remove(write);
    free.addLast(write);
    endIfBack();
    announceLater();
  }

  /** Writes entries again that the peer lacks, from that one on. */
  void writeAgain(long from) {
    long first = from;
    for (long index = from; index <= announced.last() + 1; index++) {
      boolean hasEntry = announced.isUnread(index) || announced.inFlight(index) != null;
      if (isUnderWay(index) || !hasEntry) {
        if (first < index) {
          write(first, (int) (index - first), true);
        }
        first = index + 1;
      }
    }
  }

  boolean isUnderWay(long index) {
    if (index >= open && index < open + collected) {
      return true;
    }
    for (int i = 0; i < underWay.size(); i++) {
      if (index >= underWay.get(i).first() && index <= underWay.get(i).last()) {
        return true;
      }
    }
    return false;
  }

  /** Whether a provider took any entry of a receive, whose first that is; or of later ones. */
  boolean wasPosted(long index) {
    boolean posted = index <= postedThrough;
    for (int i = 0; i < underWay.size() && !posted; i++) {
      posted = index <= underWay.get(i).last() && underWay.get(i).wasPosted();
    }
    return posted;
  }

  /** Whether no entry up to that of a receive is one that is being written for another. */
  private boolean isFree(long index) {
    for (int i = 0; i < underWay.size(); i++) {
      if (index - underWay.get(i).first() >= MailboxLayout.ENTRIES) {
        return false;
      }
    }
    return true;
  }

  boolean isQuiet() {
    return underWay.isEmpty() && !isEnding;
  }

  /** What is not posted yet is not to be. */
  void drop() {
    collected = 0;
    for (int i = underWay.size() - 1; i >= 0; i--) {
      underWay.get(i).drop();
    }
  }

  /** Nobody needs entries any more. What left is waited for, so that nothing lands after that. */
  void stop() {
    if (!stopped) {
      stopped = true;
      drop();
      endIfBack();
    }
  }

  private void endIfBack() {
    if (stopped && !ended && underWay.isEmpty()) {
      ended = true;
      isEnding = true;
      receiver.link.endpoint.tasks().submit(ending);
    }
  }

  void fail(Failure why) {
    if (!stopped) {
      receiver.fail(why);
    }
  }
}
