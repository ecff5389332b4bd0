package org.jofi.rdma.engine;

import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.wire.ProtocolLimits;

/** The chunks of one {@link ChunkedSend} that are on their way, each a request of its own. */
final class Chunks extends RequestQueue {
  private final BySlot<Chunk> chunks;

  /** One chunk; who owns it is told when no operation of it is left. */
  private static final class Chunk extends RendezvousSend {
    private final ChunkedSend owner;
    private int part;

    Chunk(Sender sender, Request request, ChunkedSend owner) {
      super(sender, request);
      this.owner = owner;
    }

    /** Its block takes another chunk later, and its immediate data would count for that. */
    @Override
    boolean mayWriteAgain(Certainty certainty) {
      return certainty == Certainty.OVER;
    }

    @Override
    boolean ownsIndex() {
      return !owner.isOffered();
    }

    @Override
    void endUse() {
      super.endUse();
      owner.sent(part, isComplete());
    }
  }

  Chunks(Sender sender, ChunkedSend owner) {
    super(sender.link(), RequestTable.MESSAGES, ProtocolLimits.MAX_GROUP);
    chunks = new BySlot<>(slot -> new Chunk(sender, request(slot), owner));
  }

  /** What sends a part; there is always one, since a part has one at a time. */
  RendezvousSend take(int part) {
    int slot = begin();
    if (slot == RequestTable.NONE) {
      throw new IllegalStateException("no request for part " + part);
    }
    Chunk chunk = chunks.get(slot);
    chunk.part = part;
    return chunk;
  }

  /** Whether nothing more has to be posted for any of them. */
  boolean endByThemselves() {
    for (int slot = 0; slot < table().used(); slot++) {
      if (table().isActive(slot) && !request(slot).strategy().endsByItself()) {
        return false;
      }
    }
    return true;
  }

  /** As {@link RequestStrategy#progress}, of all. */
  long progress() {
    long sum = 0;
    for (int slot = 0; slot < table().used(); slot++) {
      if (table().isActive(slot)) {
        sum += request(slot).strategy().progress();
      }
    }
    return sum;
  }

  /** As {@link RendezvousSend#answered}, of the chunk that is meant. */
  boolean answered(long index, long chunk, int stripe, int ofTry, boolean arrived) {
    for (int slot = 0; slot < table().used(); slot++) {
      if (table().isActive(slot)
          && chunks.get(slot).is(index, chunk)
          && chunks.get(slot).answered(stripe, ofTry, arrived)) {
        return true;
      }
    }
    return false;
  }

  /** As {@link RequestStrategy#checked}, of all. */
  void checked() {
    for (int slot = 0; slot < table().used(); slot++) {
      if (table().isActive(slot)) {
        request(slot).strategy().checked();
      }
    }
  }

  /** As {@link RequestStrategy#missing}, of one that is not over; empty if all are. */
  String missing() {
    for (int slot = 0; slot < table().used(); slot++) {
      if (table().isActive(slot)) {
        return "; of one: " + request(slot).strategy().missing();
      }
    }
    return "";
  }

  @Override
  public boolean waits() {
    return isActive();
  }

  @Override
  void ended(Request request) {
    // Nobody tests a chunk: its slot is free again.
    table().test(table().id(request.slot()));
  }
}
