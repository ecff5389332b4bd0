package org.jofi.cli.allreduce;

import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.RankFailure;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;

/**
 * A partner's array as it is received, in one message at a time. Data is flushed if the
 * communicator says that it is needed, since a GPU may not see it otherwise. For one thread.
 */
final class IncomingArray implements AutoCloseable {
  private final BoundedWait patience;
  private final RecvComm comm;
  private final String partner;
  private final String receivingFrom;
  private final String flushingFrom;
  private final IncomingMemory memory;
  private long receiving = Result.NOTHING_TO_DO;
  private long flushing = Result.NOTHING_TO_DO;
  private long offset;
  private long length;

  /**
   * @param target the memory that it is received into
   */
  IncomingArray(RingLinks links, Memory target, int partner) {
    patience = links.patience();
    comm = links.from(partner);
    this.partner = "rank " + partner;
    receivingFrom = "receiving from " + this.partner;
    flushingFrom = "flushing what came from " + this.partner;
    memory = new IncomingMemory(comm, target);
  }

  /** Posts a receive of this many bytes. The message before is over. */
  void receive(long at, long bytes) {
    offset = at;
    length = bytes;
    patience.progressed();
    receiving = post();
    while (receiving == Result.TRY_AGAIN) {
      patience.idle(partner);
      receiving = post();
    }
    flushing = Result.TRY_AGAIN;
  }

  private long post() {
    return memory.irecv(offset, length, OutgoingArray.TAG);
  }

  /** Makes progress unless the message is over, and its data can be seen where it landed. */
  boolean isOver() {
    if (receiving != Result.NOTHING_TO_DO && !isTaken()) {
      return false;
    }
    if (flushing == Result.TRY_AGAIN) {
      flushing = memory.iflush(offset, length);
    }
    return flushing == Result.NOTHING_TO_DO || (flushing != Result.TRY_AGAIN && isFlushed());
  }

  private boolean isTaken() {
    long result = patience.test(comm, receiving, receivingFrom);
    if (result == Result.IN_PROGRESS) {
      return false;
    }
    if (result != length) {
      throw new RankFailure(
          "%d bytes arrived from %s instead of %d".formatted(result, partner, length));
    }
    receiving = Result.NOTHING_TO_DO;
    return true;
  }

  private boolean isFlushed() {
    if (patience.test(comm, flushing, flushingFrom) == Result.IN_PROGRESS) {
      return false;
    }
    flushing = Result.NOTHING_TO_DO;
    return true;
  }

  String path() {
    return memory.path();
  }

  @Override
  public void close() {
    memory.close();
  }
}
