package org.jofi.rdma.engine;

import org.jofi.rdma.wire.ImmediateData;

/** The stripes that arrive for announced receives, and how many did. */
final class ArrivedStripes {
  private static final long NONE_FAILED = Long.MAX_VALUE;

  private final AnnouncementQueue queue;
  private final AnnouncedReceives announced;
  private long stripes;
  private long immediates;
  private long dropped;

  /** The first index of the receives that failed. */
  private long firstFailed = NONE_FAILED;

  ArrivedStripes(AnnouncementQueue queue) {
    this.queue = queue;
    announced = queue.announced;
  }

  /** Immediate data arrived; whether it is of a receive in flight. */
  boolean immediate(int bits) {
    long index = announced.indexOf(ImmediateData.indexBits(bits));
    PostedReceive receive = announced.inFlight(index);
    if (receive == null || !receive.stripe(receive.sub(index), bits)) {
      dropped++;
      // If none failed, it arrived before: its write failed, and the sender heard, or wrote again.
      immediates += receive == null && firstFailed != NONE_FAILED ? 1 : 0;
      return false;
    }
    immediates++;
    arrived(index);
    return true;
  }

  /** A stripe was written again. */
  void written(long index, int immediate) {
    PostedReceive receive = announced.inFlight(index);
    if (receive == null || !receive.written(receive.sub(index), immediate)) {
      dropped++;
    } else {
      arrived(index);
    }
  }

  private void arrived(long index) {
    stripes++;
    queue.saw(index);
  }

  void trueLength(long index, long lengthBytes) {
    PostedReceive receive = announced.inFlight(index);
    if (receive == null || !receive.trueLength(receive.sub(index), lengthBytes)) {
      dropped++;
    }
  }

  /** All of a message is in its memory, as its sender says, whoever was told. */
  void delivered(long index, long lengthBytes) {
    PostedReceive receive = announced.inFlight(index);
    if (receive != null) {
      queue.saw(index);
      receive.delivered(receive.sub(index), lengthBytes);
    }
  }

  int hasStripe(long index, int stripe) {
    if (index > announced.last()) {
      return MessageProtocol.UNKNOWN;
    }
    PostedReceive receive = announced.inFlight(index);
    if (receive != null) {
      return receive.hasStripe(receive.sub(index), stripe);
    }
    // Of one that failed it is not known; its sender hears of that.
    return index < firstFailed ? MessageProtocol.ARRIVED : MessageProtocol.UNKNOWN;
  }

  void failed(long index) {
    firstFailed = Math.min(firstFailed, index);
  }

  /** Writes that arrived with their immediate data, each once; those of failed receives, too. */
  long immediates() {
    return immediates;
  }

  long stripes() {
    return stripes;
  }

  long dropped() {
    return dropped;
  }
}
