package org.jofi.rdma.engine;

import org.jofi.rdma.sequence.ReceiveWindow;

/** A receive in flight, or several as one, whose stripes arrive. */
abstract class IncomingReceive extends RequestStrategy {
  private final Receiver receiver;
  private long index;
  private int indices;
  private boolean hasRoom;

  IncomingReceive(Receiver receiver, Request request) {
    super(request);
    this.receiver = receiver;
  }

  final Receiver receiver() {
    return receiver;
  }

  /** Begins, with so many indices, one after the other. */
  final void begin(long first, int count) {
    index = first;
    indices = count;
    hasRoom = false;
    request().begin(this);
  }

  /** The index of its first receive. */
  final long index() {
    return index;
  }

  /** How many indices it has. */
  final int indices() {
    return indices;
  }

  /** Which of its receives an index is. */
  final int sub(long of) {
    return (int) (of - index);
  }

  /** Where one of its receives stands in the window. */
  final int slotOf(int sub) {
    return ReceiveWindow.slot(index + sub);
  }

  /** There is room for what arrives: the peer is told of it now. */
  final void announceNow() {
    hasRoom = true;
    announce();
  }

  /** Whether the peer is told of it, as far as the rails take it. */
  final boolean hasRoom() {
    return hasRoom;
  }

  /** Gives back the room for what arrives. */
  final void giveRoom() {
    if (hasRoom) {
      hasRoom = false;
      receiver.unannounced().ended(indices);
    }
  }

  /** Tells the peer of it. */
  abstract void announce();

  /** How many lengths it has. */
  abstract int count();

  /** The true length of a message of a request that is over. */
  abstract long lengthBytes(int sub);

  /**
   * A stripe arrived.
   *
   * @param immediate checked
   * @return whether it fits
   */
  abstract boolean stripe(int sub, int immediate);

  /** A true length arrived; whether it fits. */
  abstract boolean trueLength(int sub, long lengthBytes);

  /** Whether a stripe of it arrived: as {@link Receiver#hasStripe}. */
  abstract int hasStripe(int sub, int stripe);

  /** A stripe was written again; whether it fits. */
  abstract boolean written(int sub, int immediate);

  /** Whether a provider took any of its entries, so that the peer may write into its memory. */
  abstract boolean wasPosted();

  /** Whether its entries were written, as far as the provider told. */
  abstract boolean isWritten();

  /**
   * Its entries were lost without a word: they are written again if they can be, over another rail
   * if possible.
   */
  abstract void writeAgain();

  @Override
  final boolean isExposed() {
    return wasPosted() && !receiver.isPeerDone();
  }

  /** The sender's stripes for others may be before its own. */
  @Override
  final long progress() {
    return receiver.stripes();
  }
}
