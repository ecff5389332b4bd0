package org.jofi.cli.allreduce;

import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.RankFailure;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;

/** A rank's array as it is sent to a partner, in one message at a time. For one thread. */
final class OutgoingArray implements AutoCloseable {
  static final int TAG = 0;

  private final BoundedWait patience;
  private final SendComm comm;
  private final String partner;
  private final String sendingTo;
  private final OutgoingMemory memory;
  private long request = Result.NOTHING_TO_DO;
  private long length;

  OutgoingArray(RingLinks links, RingMemory memory, int partner) {
    patience = links.patience();
    comm = links.to(partner);
    this.partner = "rank " + partner;
    sendingTo = "sending to " + this.partner;
    this.memory = new OutgoingMemory(comm, memory.array());
  }

  /** Starts to send a part of the array, in bytes. The message before is over. */
  void send(long offset, long bytes) {
    length = bytes;
    patience.progressed();
    request = post(offset);
    while (request == Result.TRY_AGAIN) {
      patience.idle(partner);
      request = post(offset);
    }
  }

  private long post(long offset) {
    return memory.isend(offset, length, TAG);
  }

  /** Makes progress unless the message is over, after which the array may change. */
  boolean isOver() {
    if (request != Result.NOTHING_TO_DO) {
      long result = patience.test(comm, request, sendingTo);
      if (result == Result.IN_PROGRESS) {
        return false;
      }
      if (result != length) {
        throw new RankFailure("%s took %d of %d bytes".formatted(partner, result, length));
      }
      request = Result.NOTHING_TO_DO;
    }
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
