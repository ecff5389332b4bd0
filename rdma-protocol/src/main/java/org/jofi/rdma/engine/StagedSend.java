package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.request.RequestStrategy;
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
 * are delivered: as a {@link RendezvousSend}, which the request goes on as. The others are writes
 * that tell the receiver nothing; if it has blocks for them, it is told how many are there.
 *
 * <p>Chunks are started and posted in order: {@code finished <= posted <= copied}. No more are
 * under way than there are blocks here, and none is written to a block of the peer's that is not
 * free.
 */
final class StagedSend extends RequestStrategy {
  private final Sender sender;
  private final PostedSend posting;
  private final Task chunkTask = new ChunkTask();
  private final ChunkCopies copies;
  private final @Nullable Transfer[] writes = new @Nullable Transfer[ChunkCopies.PARTS];
  private final long[] keys = new long[ProtocolLimits.MAX_RAILS];

  /** How many blocks the peer has; 0 if it takes the message whole. */
  private int blocksThere;

  private boolean isShort;
  private long remoteAddress;
  private long chunkBytes;
  private long chunks;
  private long posted;

  /** Chunks before the last that are delivered, from the first on. */
  private long finished;

  /** How many of them the peer was told of. */
  private long reported;

  /** How many of the peer's blocks became free again. */
  private long taken;

  /** How often it was looked at since anything became free. */
  private int checks;

  StagedSend(Sender sender, PostedSend posting) {
    super(posting.request);
    this.sender = sender;
    this.posting = posting;
    copies = new ChunkCopies(this, sender.link.endpoint, chunkTask);
  }

  private final class ChunkTask extends Task {
    @Override
    protected boolean advance() {
      if (isLive()) {
        moveChunks();
      }
      return !isLive();
    }
  }

  /** Starts it: through blocks that are in use; or, without them, from the memory itself. */
  void start(DataRegistration memory, @Nullable StagingRing blocks) {
    MailboxReader entry = sender.mailbox;
    long lengthBytes = posting.lengthBytes;
    isShort = lengthBytes < entry.lengthBytes();
    lease = memory;
    copies.begin(blocks);
    blocksThere = entry.isStaged() ? entry.blocks() : 0;
    remoteAddress = entry.remoteAddress();
    for (int rail = 0; rail < sender.link.endpoint.dataRails(); rail++) {
      keys[rail] = entry.key(rail);
    }
    chunkBytes =
        blocksThere > 0 || blocks == null
            ? 1L << entry.chunkShift()
            : blocks.space().shape.chunkBytes();
    chunks = Math.max(1, (lengthBytes + chunkBytes - 1) / chunkBytes);
    posted = 0;
    finished = 0;
    reported = 0;
    taken = 0;
    checks = 0;
    request.begin(this);
    if (blocks != null && Math.min(chunkBytes, lengthBytes) > blocks.blockBytes()) {
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

  private void moveChunks() {
    boolean postedSome;
    do {
      startCopies();
      postedSome = false;
      while (isLive() && posted < copies.done && mayPost(posted)) {
        post(posted++);
        postedSome = true;
      }
    } while (postedSome && isLive());
    tellWritten();
  }

  private void startCopies() {
    StagingRing blocks = copies.ring;
    int window = blocks == null ? ChunkCopies.PARTS : blocks.blocks();
    boolean starts = true;
    while (starts && isLive() && copies.begun < Math.min(chunks, finished + window)) {
      long chunk = copies.begun;
      starts = copies.start(true, posting.address + chunk * chunkBytes, bytes(chunk));
    }
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
    StagingRing blocks = copies.ring;
    long bytes = bytes(chunk);
    long from =
        bytes == 0
            ? memory.range().address()
            : blocks == null ? posting.address + chunk * chunkBytes : blocks.block(chunk);
    long remote = remoteAddress + (blocksThere > 0 ? chunk % blocksThere : chunk) * chunkBytes;
    if (chunk == chunks - 1) {
      // The peer can take those before out of their blocks while it is on its way.
      tellWritten();
      lease = null;
      RendezvousSend end = posting.rendezvous();
      for (int rail = 0; rail < sender.link.endpoint.dataRails(); rail++) {
        end.remote(rail, remote, keys[rail]);
      }
      end.start(isShort, from, bytes, memory, copies.takeRing());
      return;
    }
    Transfer write = writes[ChunkCopies.part(chunk)];
    if (write == null) {
      write = sender.link.sink.overData(this);
      writes[ChunkCopies.part(chunk)] = write;
    }
    write.begin(Transfer.Kind.WRITE, from, memory);
    for (int rail = 0; rail < sender.link.endpoint.dataRails(); rail++) {
      write.remote(rail, remote, keys[rail]);
    }
    write.completeOnDelivery(-1);
    write.spread(bytes);
    sender.link.submit(write);
  }

  private boolean isOut(int part) {
    Transfer write = writes[part];
    return write != null && write.isOut();
  }

  private long bytes(long chunk) {
    return Math.clamp(posting.lengthBytes - chunk * chunkBytes, 0, chunkBytes);
  }

  @Override
  public void completed(Transfer of, int stripe) {
    long before = finished;
    while (finished < posted && !isOut(ChunkCopies.part(finished))) {
      finished++;
    }
    if (finished > before) {
      request.restartBound();
      proceed();
    }
    super.completed(of, stripe);
  }

  @Override
  public boolean failed(
      Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
    boolean mayRepeat = isLive() && railLeft && certainty != Certainty.UNKNOWN;
    return (mayRepeat && sender.failure() == null)
        || super.failed(of, stripe, why, certainty, railLeft);
  }

  /** A block is free, here or there, or the peer is to be told, or the last may go. */
  private void proceed() {
    checks = 0;
    if (isLive()) {
      sender.link.endpoint.tasks().defer(chunkTask);
    }
  }

  private void tellWritten() {
    long count = finished;
    if (blocksThere > 0
        && reported != count
        && isLive()
        && sender.link.tell(MessageType.CHUNKS_WRITTEN, posting.index, count)) {
      reported = count;
    }
  }

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
    for (Transfer write : writes) {
      if (write != null && write.isOut()) {
        write.moveLate();
      }
    }
    boolean waits = blocksThere > 0 && finished == posted && reported > 0;
    if (waits && Integer.bitCount(++checks) == 1 && checks > 1) {
      reported = 0;
      sender.link.endpoint.tasks().defer(chunkTask);
    }
  }

  @Override
  public void cut() {
    for (Transfer write : writes) {
      if (write != null) {
        write.cancel();
      }
    }
  }

  @Override
  public boolean isOut() {
    boolean isOut = false;
    for (int part = 0; part < writes.length; part++) {
      isOut |= isOut(part);
    }
    return isOut;
  }

  @Override
  public boolean isComplete() {
    return false;
  }

  @Override
  public boolean isTimed() {
    return true;
  }

  @Override
  public boolean endsByItself() {
    return false;
  }

  @Override
  public long movedBytes() {
    return posting.lengthBytes;
  }

  @Override
  public long progress() {
    long sum = 0;
    for (Transfer write : writes) {
      if (write != null && write.isOut()) {
        sum += write.progress();
      }
    }
    return sum;
  }

  @Override
  public void endUse() {
    super.endUse();
    StagingRing.give(copies.takeRing());
  }

  @Override
  public String where() {
    return sender.where(posting.index);
  }

  @Override
  public String missing() {
    return "of %d chunks %d are copied or on their way, %d posted, %d delivered%s"
        .formatted(
            chunks,
            copies.begun,
            posted,
            finished,
            blocksThere > 0 ? ", %d taken out of their blocks".formatted(taken) : "");
  }
}
