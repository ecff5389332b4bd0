package org.jofi.rdma.engine;

/**
 * A receive in flight, or several as one. It gets its indices when it is announced; a short message
 * may fill it before, or instead.
 */
abstract class IncomingReceive extends ListedStrategy<IncomingReceive> {
  /** The index of a receive that has none yet. */
  static final long NONE = 0;

  private final Receiver receiver;
  private long index;
  private int indices;
  private int handled;
  private int needed;
  private boolean listed;
  private boolean withheld;
  private boolean hasRoom;

  IncomingReceive(Receiver receiver, Request request) {
    super(request);
    this.receiver = receiver;
  }

  final Receiver receiver() {
    return receiver;
  }

  /** Begins. */
  final void begin() {
    index = NONE;
    indices = 0;
    listed = false;
    withheld = false;
    hasRoom = false;
    request().begin(this);
  }

  /** It counts as so many of the receives that may be in flight. */
  final void need(int places) {
    needed = places;
  }

  /** As how many receives it counts. */
  final int needed() {
    return needed;
  }

  /** It is among the receives that wait for messages. */
  final void list() {
    listed = true;
  }

  /** Whether it ever was among the receives that wait; stored messages may fill it before. */
  final boolean isListed() {
    return listed;
  }

  /** It is announced only if it has to be. */
  final void withhold() {
    withheld = true;
  }

  /** Whether it is announced only if it has to be. */
  final boolean isWithheld() {
    return withheld;
  }

  /** It has to be announced. */
  final void release() {
    withheld = false;
  }

  /** The index of its first entry; {@link #NONE} if it was not announced. */
  final long index() {
    return index;
  }

  /** How many indices it has, or will get if it is announced now. */
  abstract int places();

  /** How many indices it has. */
  final int indices() {
    return indices;
  }

  /** The low byte of how many short messages were handled when it got its indices. */
  final int handled() {
    return handled;
  }

  /** It gets its indices, and there is room for what arrives: the peer is told of it now. */
  final void announceNow(long first, int count, long messagesHandled) {
    index = first;
    indices = count;
    handled = (int) messagesHandled & 0xff;
    hasRoom = true;
    announce();
  }

  /** Gives back the room for what arrives. */
  final void giveRoom() {
    if (hasRoom) {
      hasRoom = false;
      receiver.unannounced().ended(indices);
    }
  }

  /** Whether the peer is told of it, as far as the rails take it. */
  final boolean hasRoom() {
    return hasRoom;
  }

  /** Tells the peer of it. */
  abstract void announce();

  /** How many lengths it has. */
  abstract int count();

  /** Which messages a receive of it takes. */
  abstract int tag(int sub);

  /** Whether nothing arrived for a receive of it. */
  abstract boolean isOpen(int sub);

  /** The index of a receive of it; {@link #NONE} if it was not announced. */
  abstract long indexOf(int sub);

  /** Which of its receives an index is. */
  abstract int sub(long of);

  /**
   * A receive that is open takes a short message. If that is longer this side fails, and at once:
   * the request may have operations under way, and what follows is for no other receive.
   */
  final void take(int sub, long from, int lengthBytes) {
    long room = roomBytes(sub);
    if (lengthBytes > room) {
      receiver.fail(receiver.tooLong("irecv with tag %d".formatted(tag(sub)), lengthBytes, room));
    } else {
      fill(sub, from, lengthBytes);
    }
  }

  /** How long a message of a receive of it may be. */
  abstract long roomBytes(int sub);

  /** A short message, which fits, goes into an open receive. */
  abstract void fill(int sub, long from, int lengthBytes);

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

  /** All of a message is in its memory, as its sender says, whoever was told. */
  abstract void delivered(int sub, long lengthBytes);

  /** A stripe was written, or written again; whether it fits. */
  abstract boolean written(int sub, int immediate);

  /** Whether a provider took any of its entries, so that the peer may write into its memory. */
  abstract boolean wasPosted();

  /** Whether its entries were written, as far as the provider told. */
  abstract boolean isWritten();

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
