package org.jofi.rdma.engine;

import org.jofi.counters.written.CounterType;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.staging.ChunkCopies;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A receive into device memory, through host blocks. For its sender it is an ordinary receive whose
 * memory is the blocks; what does not fit into them comes in chunks: {@link StagedSend}. It is over
 * when all is in device memory.
 *
 * <p>Chunks are copied in order: {@code copied <= copying <= written}, until the last arrives.
 */
final class StagedReceive extends PostedReceive implements ChunkCopies.Listener {
  private final ChunkCopies copies;
  private final Task chunkTask = new ChunkTask();
  private @Nullable StagingRing ring;
  private long address;
  private int chunkShift;

  /** Chunks before the last that are in blocks, as the sender says, from the first on. */
  private long written;

  private long copying;
  private long copied;

  /** Bits of the blocks of later chunks that are copied. */
  private int copiedLater;

  /** How many copied chunks the sender was told of. */
  private long reported;

  StagedReceive(Receiver receiver, Request request) {
    super(receiver, request);
    copies = new ChunkCopies(receiver.link.endpoint.tasks(), this);
  }

  private final class ChunkTask extends Task {
    @Override
    protected boolean advance() {
      StagingRing blocks = ring;
      return !isLive() || blocks == null || moveChunks(blocks) || !isLive();
    }
  }

  /** Starts it, through blocks that are in use. */
  void start(long deviceAddress, long bytes, int tagged, StagingRing blocks) {
    address = deviceAddress;
    chunkShift = blocks.space().shape.chunkShift();
    ring = blocks;
    copies.use(blocks);
    written = 0;
    copying = 0;
    copied = 0;
    copiedLater = 0;
    reported = 0;
    request.begin(this);
    start(1);
    expect(0, blocks.block(0), bytes, tagged, blocks.registration());
  }

  private long chunks(long bytes) {
    return Math.max(1, (bytes + (1L << chunkShift) - 1) >> chunkShift);
  }

  private int blocks() {
    StagingRing blocks = ring;
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
    if (arrivedWhole() || count > Math.min(copied + blocks(), chunks(roomBytes(0)) - 1)) {
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

  private boolean moveChunks(StagingRing blocks) {
    while (isLive() && copying < there() && copying - copied < blocks.blocks()) {
      long bytes = 1L << chunkShift;
      if (arrivedWhole()) {
        bytes = Math.min(bytes, lengthBytes(0) - (copying << chunkShift));
      }
      int part = part(copying);
      if (bytes == 0) {
        copiedLater |= 1 << part;
      } else {
        int answer =
            copies.start(
                false, part, address + (copying << chunkShift), blocks.block(copying), bytes);
        if (answer == ChunkCopies.AGAIN) {
          return false;
        }
        if (answer < 0) {
          fail(copies.failure(answer));
          return true;
        }
        request.begun();
        receiver.link.endpoint.counters().add(CounterType.BYTES_STAGED, bytes);
      }
      copying++;
    }
    countCopied();
    return tellTaken();
  }

  private int part(long chunk) {
    return (int) (chunk % blocks());
  }

  private void countCopied() {
    while (copied < copying && (copiedLater & 1 << part(copied)) != 0) {
      copiedLater &= ~(1 << part(copied));
      copied++;
    }
    request.settle();
  }

  /** Tells which blocks are free, if the message may need them; whether there was a buffer. */
  private boolean tellTaken() {
    boolean mayHaveMore = !arrivedWhole() && chunks(roomBytes(0)) > reported + blocks();
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
  public void copied(int part, @Nullable Failure why) {
    request.returned();
    request.restartBound();
    if (why == null) {
      copiedLater |= 1 << part;
      countCopied();
      proceed();
    } else {
      fail(why);
    }
  }

  @Override
  public boolean isComplete() {
    return super.isComplete() && copied == there();
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
    StagingRing blocks = ring;
    ring = null;
    if (blocks != null) {
      blocks.space().give(blocks);
    }
  }

  @Override
  public String missing() {
    String more = super.missing();
    return "%d chunks of at most %d are in their blocks, %d in device memory%s"
        .formatted(there(), chunks(roomBytes(0)), copied, more.isEmpty() ? "" : "; " + more);
  }
}
