package org.jofi.rdma.engine;

import java.util.ArrayDeque;
import org.jofi.rdma.operation.ArrivalBudget;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.sequence.ReceiveIndices;
import org.jspecify.annotations.Nullable;

/**
 * Announces receives in the order of their indices, as there is room for what arrives.
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
  private final Task collecting = new Collecting();
  private final ArrayDeque<AnnouncementWrite> free = new ArrayDeque<>(1);

  /** What is collected; null if nothing is. */
  private @Nullable AnnouncementWrite open;

  /** The write that was submitted last. */
  private @Nullable AnnouncementWrite last;

  /** Whether something was written since the last poll, or waits. */
  private boolean collects;

  private int underWay;

  /** The first receive that is not announced. */
  private long next = ReceiveIndices.FIRST;

  AnnouncementQueue(Receiver receiver) {
    this.receiver = receiver;
    room = receiver.link().sink().budget().share(this);
    oneAtATime = receiver.link().sink().smallWritesNeedDelivery();
  }

  /** Writes what was collected since the last poll. */
  private final class Collecting extends Task {
    @Override
    protected boolean advance() {
      if (open != null && isHeldUp()) {
        return false;
      }
      collects = open != null;
      submitOpen();
      return !collects;
    }
  }

  @Override
  protected boolean advance() {
    announce();
    return true;
  }

  /** Announces what there is room for; the rest when its turn comes. */
  void announce() {
    if (announceWithRoom()) {
      room.served();
    }
    if (open != null && !collects) {
      collects = true;
      receiver.link().sink().tasks().watch(collecting);
      if (!isHeldUp()) {
        submitOpen();
      }
    }
  }

  /** Whether there was room for all. */
  private boolean announceWithRoom() {
    while (next < receiver.next()) {
      IncomingReceive request = receiver.inFlight(next);
      if (request == null) {
        // It failed while it waited.
        next++;
      } else if (room.take(request.indices())) {
        next += request.indices();
        request.announceNow();
      } else {
        return false;
      }
    }
    return true;
  }

  private boolean isHeldUp() {
    AnnouncementWrite before = last;
    return before != null && (before.isWaiting() || (oneAtATime && underWay > 0));
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

  /** Writes entries again that the peer lacks, although they were written. */
  void writeAgain(PostedReceive receive) {
    AnnouncementWrite write = take();
    write.add(receive);
    write.repeat();
    submit(write);
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
  void give(AnnouncementWrite write) {
    underWay--;
    if (write.equals(last)) {
      last = null;
    }
    free.addLast(write);
  }

  /** The peer writes no more to receives that were announced. */
  void ended(int receives) {
    room.give(receives);
  }
}
