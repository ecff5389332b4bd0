package org.jofi.rdma.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jofi.rdma.operation.ArrivalBudget;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.wire.MailboxLayout;
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
 */
final class AnnouncementQueue extends Task {
  private final Receiver receiver;
  private final ArrivalBudget.Share room;
  private final boolean oneAtATime;
  private final Collector collecting = new Collecting();
  private final ArrayDeque<AnnouncementWrite> free = new ArrayDeque<>(1);

  /** Writes that left, and may not have arrived. */
  private final List<AnnouncementWrite> unseen = new ArrayList<>(0);

  /** What is collected; null if nothing is. */
  private @Nullable AnnouncementWrite open;

  /** The write that was submitted last. */
  private @Nullable AnnouncementWrite last;

  private int underWay;
  private int alone;

  /** The oldest receive that was not announced; null if all were. */
  private @Nullable IncomingReceive next;

  /** How many were not announced and are not withheld. */
  private int due;

  AnnouncementQueue(Receiver receiver) {
    this.receiver = receiver;
    room = receiver.link().sink().budget().share(this);
    oneAtATime = receiver.link().sink().smallWritesNeedDelivery();
  }

  /** Writes what was collected since the last poll. */
  private final class Collecting extends Collector {
    @Override
    boolean isEmpty() {
      return open == null;
    }

    @Override
    boolean isHeldUp() {
      AnnouncementWrite before = last;
      return before != null && (before.isWaiting() || (oneAtATime && underWay > 0));
    }

    @Override
    void submit() {
      submitOpen();
    }
  }

  @Override
  protected boolean advance() {
    announce();
    return true;
  }

  /** A receive was posted, after all others. */
  void add(IncomingReceive receive) {
    if (next == null) {
      next = receive;
    }
    if (!receive.isWithheld()) {
      due++;
      announce();
    }
  }

  /** A receive is over: it is announced no more if it was not yet. */
  void remove(IncomingReceive receive) {
    if (receive.index() == IncomingReceive.NONE) {
      if (!receive.isWithheld()) {
        due--;
      }
      if (receive.equals(next)) {
        next = receive.next();
      }
    }
  }

  /** Receives that were withheld have to be announced. */
  void release() {
    for (IncomingReceive receive = next; receive != null; receive = receive.next()) {
      if (receive.isWithheld()) {
        receive.release();
        due++;
      }
    }
    announce();
  }

  /** Whether some wait for an index. */
  boolean isDue() {
    return due > 0;
  }

  /** Announces what there is room for; the rest when its turn comes. */
  private void announce() {
    if (announceWithRoom()) {
      room.served();
    }
    collecting.leave(receiver.link().sink().tasks());
  }

  /** Whether there was room for all that have an entry. */
  private boolean announceWithRoom() {
    IncomingReceive receive = next;
    while (due > 0 && receive != null && receiver.hasEntries(receive.places())) {
      int places = receive.places();
      if (places > 0 && !room.take(places)) {
        return false;
      }
      if (!receive.isWithheld()) {
        due--;
      }
      next = receive.next();
      if (places > 0) {
        receiver.announce(receive, places);
      } else {
        // Short messages filled it, and it only waits for copies.
        receive.withhold();
      }
      receive = next;
    }
    return true;
  }

  /** Collects the entries of a receive. */
  void collect(PostedReceive receive) {
    AnnouncementWrite write = open;
    if (write != null && !write.takes(receive)) {
      submitOpen();
      write = null;
    }
    if (write == null) {
      write = take();
      open = write;
    }
    write.add(receive);
  }

  private AnnouncementWrite take() {
    AnnouncementWrite write = free.pollLast();
    if (write == null) {
      write = new AnnouncementWrite(this, receiver.link());
    }
    write.begin(receiver.announcer());
    return write;
  }

  private void submitOpen() {
    AnnouncementWrite write = open;
    if (write != null) {
      open = null;
      submit(write);
    }
  }

  private void submit(AnnouncementWrite write) {
    last = write;
    underWay++;
    write.submit(receiver.announcer(), receiver.link());
  }

  /** A write left, and may not have arrived. */
  void left(AnnouncementWrite write) {
    receiver.began();
    unseen.add(write);
  }

  /** The peer has seen all receives up to that one. */
  void seen(long index) {
    int i = 0;
    while (i < unseen.size()) {
      int before = unseen.size();
      AnnouncementWrite write = unseen.get(i);
      if (write.last() <= index && write.hasLeft()) {
        write.seen();
      }
      // Others may have gone with it. It stays if another part of it is under way.
      i = unseen.size() < before ? 0 : i + 1;
    }
  }

  /** Asks for word of all that left. */
  void ask() {
    for (int i = 0; i < unseen.size(); i++) {
      unseen.get(i).ask();
    }
  }

  /** Whether no entry up to that of a receive is one that may be written again for another. */
  boolean isFree(long index) {
    for (int i = 0; i < unseen.size(); i++) {
      if (index - unseen.get(i).first() >= MailboxLayout.ENTRIES) {
        return false;
      }
    }
    return true;
  }

  private void writtenAgain() {
    for (int i = 0; i < unseen.size(); i++) {
      unseen.get(i).writtenElsewhere();
    }
  }

  /** Writes entries again that the peer lacks, although they were written. */
  void writeAgain(PostedReceive receive) {
    writtenAgain();
    AnnouncementWrite write = take();
    write.repeat(receive);
    submit(write);
  }

  /** The same, of an entry whose receive is over; it is not used again until that is back. */
  void writeAgain(long index) {
    if (alone == 0) {
      writtenAgain();
      alone++;
      receiver.began();
      AnnouncementWrite write = take();
      write.repeat(index);
      submit(write);
    }
  }

  /** Whether an entry whose receive is over is being written. */
  boolean writesAlone() {
    return alone > 0;
  }

  /** A write takes no more receives. */
  void closed(AnnouncementWrite write) {
    if (write.equals(open)) {
      open = null;
      underWay++;
    }
  }

  /** So many entries were written. */
  void written(int entries) {
    receiver.announced(entries);
  }

  /** A write is over. */
  void give(AnnouncementWrite write, boolean wasAlone) {
    underWay--;
    if (unseen.remove(write)) {
      receiver.becameQuiet();
      receiver.announceDue();
    }
    if (wasAlone) {
      alone--;
      receiver.becameQuiet();
      receiver.forgetSeen();
    }
    if (write.equals(last)) {
      last = null;
    }
    free.addLast(write);
  }

  /** What it was will never be known. */
  void lost(Failure why) {
    receiver.fail(why);
  }

  boolean hasFailed() {
    return receiver.failure() != null;
  }

  /** The peer writes no more to receives that were announced. */
  void ended(int receives) {
    room.give(receives);
  }
}
