package org.jofi.rdma.engine;

import org.jofi.rdma.operation.ArrivalBudget;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.sequence.ReceiveIndices;

/** Announces receives in the order of their indices, as there is room for what arrives. */
final class AnnouncementQueue extends Task {
  private final Receiver receiver;
  private final ArrivalBudget.Share room;

  /** The first receive that is not announced. */
  private long next = ReceiveIndices.FIRST;

  AnnouncementQueue(Receiver receiver) {
    this.receiver = receiver;
    room = receiver.link().sink().budget().share(this);
  }

  @Override
  protected boolean advance() {
    announce();
    return true;
  }

  /** Announces what there is room for; the rest when its turn comes. */
  void announce() {
    while (next < receiver.next()) {
      IncomingReceive request = receiver.inFlight(next);
      if (request == null) {
        // It failed while it waited.
        next++;
      } else if (room.take(request.indices())) {
        next += request.indices();
        request.announceNow();
      } else {
        return;
      }
    }
    room.served();
  }

  /** The peer writes no more to receives that were announced. */
  void ended(int receives) {
    room.give(receives);
  }
}
