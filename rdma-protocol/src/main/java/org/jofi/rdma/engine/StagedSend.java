package org.jofi.rdma.engine;

import org.jofi.counters.written.CounterType;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.staging.ChunkCopies;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.wire.MailboxReader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * A message in chunks, because it is staged here, or at the peer, or both. The last chunk is an
 * ordinary message to the receive, with the true length of the whole, and leaves when all others
 * are delivered: those are writes that tell the receiver nothing. If it has blocks for them, it is
 * told how many are there.
 *
 * <p>Chunks are started and posted in order: {@code finished <= posted <= started}. No more are
 * under way than there are blocks here, and none is written to a block of the peer's that is not
 * free.
 */
final class StagedSend extends RendezvousSend implements ChunkCopies.Listener {
  private static final int PARTS = ProtocolLimits.MAX_GROUP;

  private final ChunkCopies copies;
  private final Task chunkTask = new ChunkTask();
  private final @Nullable ChunkWrite[] writes = new @Nullable ChunkWrite[PARTS];
  private final long[] keys = new long[ProtocolLimits.MAX_RAILS];
  private @Nullable StagingRing ring;

  /** How many blocks the peer has; 0 if it takes the message whole. */
  private int blocksThere;

  private long remoteAddress;
  private long address;
  private long chunkBytes;
  private long chunks;
  private long started;

  /** Bits of the parts whose chunks are copied, or need not be, and are not posted. */
  private int ready;

  private long posted;

  /** Chunks before the last that are delivered, from the first on. */
  private long finished;

  /** How many of them the peer was told of. */
  private long reported;

  /** How many of the peer's blocks became free again. */
  private long taken;

  /** How often it was looked at since anything became free. */
  private int checks;

  StagedSend(Sender sender, Request request) {
    super(sender, request);
    copies = new ChunkCopies(sender.link.endpoint.tasks(), this);
  }

  private final class ChunkTask extends Task {
    @Override
    protected boolean advance() {
      return !isLive() || moveChunks() || !isLive();
    }
  }

  /** The write of a chunk before the last. What fails of it and is over is repeated. */
  private final class ChunkWrite implements TransferListener {
    final Transfer transfer = sender.link.sink.overData(this);

    void start(long from, long bytes, DataRegistration memory, long remote) {
      transfer.begin(Transfer.Kind.WRITE, from, memory);
      for (int rail = 0; rail < sender.link.endpoint.dataRails(); rail++) {
        transfer.remote(rail, remote, keys[rail]);
      }
      transfer.completeOnDelivery(-1);
      transfer.spread(bytes);
      sender.link.submit(transfer);
    }

    @Override
    public void completed(Transfer of, int stripe) {
      delivered();
      request.settle();
    }

    @Override
    public boolean failed(
        Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
      if (mayRepeat(certainty, railLeft) && sender.failure() == null) {
        return true;
      }
      request.fail(why);
      return false;
    }

    @Override
    public void lost(Transfer of, int stripe, Failure why) {
      request.expire(why);
    }
  }

  /** Starts it: through blocks that are in use; or, without them, from the memory itself. */
  void start(
      MailboxReader entry,
      long from,
      long bytes,
      DataRegistration memory,
      @Nullable StagingRing blocks) {
    address = from;
    ring = blocks;
    copies.use(blocks);
    blocksThere = entry.isStaged() ? entry.blocks() : 0;
    remoteAddress = entry.remoteAddress();
    for (int rail = 0; rail < sender.link.endpoint.dataRails(); rail++) {
      keys[rail] = entry.key(rail);
    }
    chunkBytes =
        blocksThere > 0 || blocks == null
            ? 1L << entry.chunkShift()
            : blocks.space().shape.chunkBytes();
    chunks = Math.max(1, (bytes + chunkBytes - 1) / chunkBytes);
    started = 0;
    posted = 0;
    finished = 0;
    reported = 0;
    taken = 0;
    checks = 0;
    ready = 0;
    transfer.begin(Transfer.Kind.WRITE, 0, memory);
    begin(bytes, memory);
    if (blocks != null && Math.min(chunkBytes, bytes) > blocks.blockBytes()) {
      fail(
          new Failure(
              FailureCause.INCOMPATIBLE,
              0,
              where(),
              "the peer takes chunks of %d bytes, and the blocks here have %d"
                  .formatted(chunkBytes, blocks.blockBytes())));
    }
    sender.link.submit(chunkTask);
  }

  private boolean moveChunks() {
    do {
      startChunks();
    } while (postReady());
    return tellWritten() && posted == chunks;
  }

  private void startChunks() {
    StagingRing blocks = ring;
    int window = blocks == null ? PARTS : blocks.blocks();
    while (isLive() && started < chunks && started - finished < window) {
      int part = part(started);
      long bytes = bytes(started);
      if (blocks == null || bytes == 0) {
        ready |= 1 << part;
      } else {
        int answer =
            copies.start(true, part, address + started * chunkBytes, blocks.block(started), bytes);
        if (answer == ChunkCopies.AGAIN) {
          return;
        }
        if (answer < 0) {
          fail(copies.failure(answer));
          return;
        }
        request.begun();
        sender.link.endpoint.counters().add(CounterType.BYTES_STAGED, bytes);
      }
      started++;
    }
  }

  @Override
  public void copied(int part, @Nullable Failure why) {
    request.returned();
    ready |= 1 << part;
    if (why != null) {
      fail(why);
    }
    request.settle();
  }

  /** Posts what can be, in order; whether anything was. */
  private boolean postReady() {
    boolean some = false;
    while (isLive() && (ready & 1 << part(posted)) != 0 && mayPost(posted)) {
      ready &= ~(1 << part(posted));
      post(posted++);
      some = true;
    }
    return some && isLive();
  }

  /** A block must be free for it there; and the last announces all others. */
  private boolean mayPost(long chunk) {
    return (blocksThere == 0 || chunk < taken + blocksThere)
        && (chunk < chunks - 1 || finished == chunk);
  }

  private void post(long chunk) {
    DataRegistration memory = lease;
    if (memory == null) {
      return;
    }
    StagingRing blocks = ring;
    long bytes = bytes(chunk);
    long from =
        bytes == 0
            ? memory.range().address()
            : blocks == null ? address + chunk * chunkBytes : blocks.block(chunk);
    long remote = remoteAddress + (blocksThere > 0 ? chunk % blocksThere : chunk) * chunkBytes;
    if (chunk < chunks - 1) {
      chunkWrite(part(chunk)).start(from, bytes, memory, remote);
    } else {
      for (int rail = 0; rail < sender.link.endpoint.dataRails(); rail++) {
        remote(rail, remote, keys[rail]);
      }
      write(from, bytes, memory);
    }
  }

  private ChunkWrite chunkWrite(int part) {
    ChunkWrite write = writes[part];
    if (write == null) {
      write = new ChunkWrite();
      writes[part] = write;
    }
    return write;
  }

  private static int part(long chunk) {
    return (int) (chunk % PARTS);
  }

  private long bytes(long chunk) {
    return Math.clamp(lengthBytes - chunk * chunkBytes, 0, chunkBytes);
  }

  private void delivered() {
    long before = finished;
    while (finished < Math.min(posted, chunks - 1)
        && !chunkWrite(part(finished)).transfer.isOut()) {
      finished++;
    }
    if (finished > before) {
      request.restartBound();
      proceed();
    }
  }

  /** A block is free, here or there, or the peer is to be told, or the last may go. */
  private void proceed() {
    checks = 0;
    if (isLive()) {
      sender.link.endpoint.tasks().defer(chunkTask);
    }
  }

  /** Whether there was a buffer, if one was needed. */
  private boolean tellWritten() {
    if (blocksThere == 0 || reported == finished || !isLive()) {
      return true;
    }
    long count = finished;
    boolean sent = sender.link.tell(MessageType.CHUNKS_WRITTEN, receiveIndex, count);
    if (sent) {
      reported = count;
    }
    return sent;
  }

  /** So many chunks are out of the peer's blocks. */
  void taken(long count) {
    if (count > taken && count <= finished) {
      taken = count;
      request.restartBound();
      proceed();
    }
  }

  /**
   * If it waits for a block, word of that may be lost, or word of what is in the blocks: the peer
   * is told again, with growing pauses, and answers.
   */
  @Override
  public void checked() {
    super.checked();
    for (ChunkWrite write : writes) {
      if (write != null && write.transfer.isOut()) {
        write.transfer.moveLate();
      }
    }
    boolean waits = blocksThere > 0 && posted < chunks && finished == posted && reported > 0;
    if (waits && Integer.bitCount(++checks) == 1 && checks > 1) {
      reported = 0;
      sender.link.endpoint.tasks().defer(chunkTask);
    }
  }

  @Override
  public void cut() {
    super.cut();
    for (ChunkWrite write : writes) {
      if (write != null) {
        write.transfer.cancel();
      }
    }
  }

  @Override
  public boolean isOut() {
    boolean isOut = super.isOut();
    for (ChunkWrite write : writes) {
      isOut |= write != null && write.transfer.isOut();
    }
    return isOut;
  }

  @Override
  public boolean isComplete() {
    return posted == chunks && super.isComplete();
  }

  @Override
  public boolean endsByItself() {
    return posted == chunks && super.endsByItself();
  }

  @Override
  public long progress() {
    long sum = super.progress();
    for (ChunkWrite write : writes) {
      if (write != null && write.transfer.isOut()) {
        sum += write.transfer.progress();
      }
    }
    return sum;
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
    return "of %d chunks %d are copied or on their way, %d posted, %d delivered%s"
        .formatted(
            chunks,
            started,
            posted,
            finished,
            posted == chunks
                ? "; of the last: " + super.missing()
                : blocksThere > 0 ? ", %d taken out of their blocks".formatted(taken) : "");
  }
}
