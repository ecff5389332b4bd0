package org.jofi.rdma.engine;

import org.jofi.rdma.operation.Task;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MessageType;

/**
 * A receive into device memory, through host blocks. For its sender it is an ordinary receive whose
 * memory is the blocks; what does not fit into them comes in chunks: {@link StagedSend}. It is over
 * when all is in device memory.
 *
 * <p>Chunks are copied in order, as they are written.
 */
final class StagedReceive extends PostedReceive {
  private final ChunkCopies copies;
  private final Task chunkTask = new ChunkTask();
  private long address;
  private int chunkShift;

  /** Chunks before the last that are in blocks, as the sender says, from the first on. */
  private long written;

  /** How many copied chunks the sender was told of. */
  private long reported;

  StagedReceive(Receiver receiver, Request request) {
    super(receiver, request);
    copies = new ChunkCopies(this, receiver.link.endpoint, chunkTask);
  }

  private final class ChunkTask extends Task {
    @Override
    protected boolean advance() {
      return !isLive() || moveChunks() || !isLive();
    }
  }

  /** Starts it, through blocks that are in use. */
  void start(long deviceAddress, long bytes, int tagged, StagingRing blocks) {
    address = deviceAddress;
    chunkShift = blocks.space().shape.chunkShift();
    copies.begin(blocks);
    written = 0;
    reported = 0;
    request.begin(this);
    start(1);
    expect(0, blocks.block(0), bytes, tagged, blocks.registration());
  }

  private long chunks(long bytes) {
    return Math.max(1, (bytes + (1L << chunkShift) - 1) >> chunkShift);
  }

  private int blocks() {
    StagingRing blocks = copies.ring;
    return blocks == null ? 1 : blocks.blocks();
  }

  @Override
  long length(int sub) {
    return MailboxLayout.staged(blocks(), roomBytes(sub), chunkShift);
  }

  @Override
  boolean isOpen(int sub) {
    return written == 0 && super.isOpen(sub);
  }

  /** A short message is in the first blocks then, as if it had been written there. */
  @Override
  void fill(int sub, long from, int lengthBytes) {
    if (chunks(lengthBytes) > blocks()) {
      receiver.fail(receiver.tooLong(where(), lengthBytes, (long) blocks() << chunkShift));
      return;
    }
    super.fill(sub, from, lengthBytes);
  }

  /** So many chunks are in their blocks, as the sender says; what cannot be is ignored. */
  void chunksWritten(long count) {
    if (arrivedWhole() || count > Math.min(copies.done + blocks(), chunks(roomBytes(0)) - 1)) {
      return;
    }
    if (count > written) {
      written = count;
      request.restartBound();
    } else {
      // It is told again, since the sender may not know which blocks are free.
      reported = 0;
    }
    proceed();
  }

  @Override
  void arrive(int sub) {
    super.arrive(sub);
    proceed();
  }

  private void proceed() {
    if (isLive()) {
      receiver.link.endpoint.tasks().defer(chunkTask);
    }
  }

  /** How many chunks are in their blocks: all, once the last is. */
  private long there() {
    return arrivedWhole() ? chunks(lengthBytes(0)) : written;
  }

  private boolean moveChunks() {
    boolean starts = true;
    while (starts && isLive() && copies.begun < Math.min(there(), copies.done + blocks())) {
      long offset = copies.begun << chunkShift;
      long left = (arrivedWhole() ? lengthBytes(0) : roomBytes(0)) - offset;
      starts = copies.start(false, address + offset, Math.min(1L << chunkShift, left));
    }
    request.settle();
    return starts && tellTaken();
  }

  /** Tells which blocks are free, if the message may need them; whether there was a buffer. */
  private boolean tellTaken() {
    boolean mayHaveMore = !arrivedWhole() && chunks(roomBytes(0)) > reported + blocks();
    long copied = copies.done;
    if (!isLive() || reported == copied || !mayHaveMore) {
      return true;
    }
    boolean sent = receiver.link.tell(MessageType.CHUNKS_TAKEN, index, copied);
    if (sent) {
      reported = copied;
    }
    return sent;
  }

  @Override
  public boolean isComplete() {
    return super.isComplete() && copies.done == there();
  }

  @Override
  public boolean isTimed() {
    return written > 0 || super.isTimed();
  }

  /** Copies use the blocks. */
  @Override
  public boolean operatesOnLease() {
    return true;
  }

  @Override
  public void endUse() {
    super.endUse();
    StagingRing.give(copies.takeRing());
  }

  @Override
  public String missing() {
    String more = super.missing();
    return "%d chunks of at most %d are in their blocks, %d in device memory%s"
        .formatted(there(), chunks(roomBytes(0)), copies.done, more.isEmpty() ? "" : "; " + more);
  }
}
