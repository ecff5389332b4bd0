package org.jofi.rdma.engine;

import java.util.Arrays;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.staging.ChunkCopies;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.MailboxReader;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * A message that goes in chunks, because it is staged here, or at the peer, or both. Used again for
 * the next such message of its slot.
 *
 * <pre>
 * chunk:  FREE -- copy to a block --&gt; COPYING -- copied --&gt; READY -- posted --&gt; SENDING -- over --&gt; FREE
 * </pre>
 *
 * Chunks are started and posted in order: {@code finished <= posted <= started}, and no more are
 * under way than there are blocks. Its task is asked until all are posted.
 */
final class ChunkedSend extends RequestStrategy implements ChunkCopies.Listener {
  private static final int PARTS = ProtocolLimits.MAX_GROUP;
  private static final byte FREE = 0;
  private static final byte COPYING = 1;
  private static final byte READY = 2;
  private static final byte SENDING = 3;

  private final Sender sender;
  private final Chunks parts;
  private final ChunkCopies copies;
  private final Task going = new Going();
  private final byte[] states = new byte[PARTS];
  private final long[] keys = new long[ProtocolLimits.MAX_RAILS];
  private @Nullable StagingSpace space;
  private @Nullable StagingRing ring;
  private long receiveIndex;
  private int entries;
  private boolean offered;
  private long chunkBytes;
  private long remoteAddress;
  private long roomBytes;
  private long address;
  private long lengthBytes;
  private long chunks;
  private long started;
  private long posted;
  private long finished;
  private boolean cutShort;

  ChunkedSend(Sender sender, Request request) {
    super(request);
    this.sender = sender;
    parts = new Chunks(sender, this);
    parts.onFailure(this::partFailed);
    copies = new ChunkCopies(sender.link().sink().tasks(), this);
  }

  /** Copies chunks to blocks, and posts them, until all are posted. */
  private final class Going extends Task {
    @Override
    protected boolean advance() {
      return !isLive() || goOn() || !isLive();
    }
  }

  /**
   * @param entry of its receive, which offers blocks one after another, or takes the message whole
   */
  void target(long index, MailboxReader entry) {
    receiveIndex = index;
    offered = entry.isStaged();
    chunkBytes = offered ? 1L << entry.chunkShift() : 0;
    entries = offered ? entry.entries() : 1;
    remoteAddress = entry.remoteAddress();
    roomBytes = entry.lengthBytes();
    for (int rail = 0; rail < sender.link().sink().dataRails(); rail++) {
      keys[rail] = entry.key(rail);
    }
  }

  /**
   * @param bytes what is moved: no more than there is room for
   * @param direct what covers it, and is leased; null if it is staged
   * @param staging what it is staged through, with blocks taken from there
   */
  void start(
      long from,
      long bytes,
      @Nullable DataRegistration direct,
      @Nullable StagingSpace staging,
      @Nullable StagingRing blocks) {
    address = from;
    lengthBytes = bytes;
    lease(direct);
    space = staging;
    ring = blocks;
    copies.use(staging);
    if (!offered && staging != null) {
      chunkBytes = staging.shape().chunkBytes();
    }
    chunks = Math.max(1, ((offered ? roomBytes : bytes) + chunkBytes - 1) / chunkBytes);
    started = 0;
    posted = 0;
    finished = 0;
    cutShort = false;
    Arrays.fill(states, FREE);
    request().begin(this);
    if (blocks != null && Math.min(chunkBytes, bytes) > blocks.blockBytes()) {
      fail(
          new Failure(
              FailureCause.INCOMPATIBLE,
              0,
              where(),
              "the peer takes chunks of %d bytes, and the blocks here have %d"
                  .formatted(chunkBytes, blocks.blockBytes())));
    }
    sender.link().submit(going);
  }

  private boolean goOn() {
    do {
      startChunks();
    } while (postReady());
    return posted == chunks;
  }

  private void startChunks() {
    StagingRing blocks = ring;
    int window = blocks == null ? PARTS : blocks.blocks();
    while (isLive() && started < chunks && started - finished < window) {
      int part = part(started);
      long bytes = bytes(started);
      if (blocks == null || bytes == 0) {
        states[part] = READY;
      } else {
        int answer =
            copies.toHost(part, address + started * chunkBytes, blocks.block(started), bytes);
        if (answer == ChunkCopies.AGAIN) {
          return;
        }
        if (answer < 0) {
          fail(copies.failure(answer));
          return;
        }
        request().begun(1);
        states[part] = COPYING;
      }
      started++;
    }
  }

  @Override
  public void copied(int part, @Nullable Failure why) {
    request().returned(1);
    states[part] = READY;
    if (why != null) {
      fail(why);
    }
    request().settle();
  }

  /** Posts what can be, in order; whether anything was. */
  private boolean postReady() {
    boolean some = false;
    while (isLive() && posted < started && states[part(posted)] == READY && mayPost(posted)) {
      long chunk = posted++;
      post(chunk, part(chunk));
      some = true;
    }
    return some && isLive();
  }

  /** A block must be offered for it; and the last of a whole message announces all others. */
  private boolean mayPost(long chunk) {
    if (!offered) {
      return chunk < chunks - 1 || finished == chunk;
    }
    int there = chunk == 0 ? 1 : sender.mailbox().pollChunk(receiveIndex, entries, chunk);
    if (there == MailboxReader.MALFORMED) {
      fail(
          new Failure(
              FailureCause.PROTOCOL_VIOLATION, 0, where(), sender.mailbox().fault().words()));
    } else if (there == 1) {
      sender.hear();
    }
    return there == 1;
  }

  private void post(long chunk, int part) {
    StagingRing blocks = ring;
    DataRegistration from = blocks == null ? leased() : blocks.registration();
    if (from == null || !from.beginUse()) {
      fail(RequestQueue.deregistered("isend"));
      return;
    }
    long bytes = bytes(chunk);
    boolean last = chunk == chunks - 1;
    RendezvousSend send = parts.take(part);
    long remote = remoteAddress + chunk * chunkBytes;
    if (offered) {
      remote = chunk == 0 ? remoteAddress : sender.mailbox().remoteAddress();
      long room = Math.min(chunkBytes, roomBytes - chunk * chunkBytes);
      send.target(receiveIndex + chunk % entries, chunk, bytes < room);
    } else {
      send.target(receiveIndex, last && lengthBytes < roomBytes);
    }
    for (int rail = 0; rail < sender.link().sink().dataRails(); rail++) {
      send.remote(rail, remote, keys[rail]);
    }
    long at = blocks == null ? address + chunk * chunkBytes : blocks.block(chunk);
    request().begun(1);
    states[part] = SENDING;
    send.start(
        bytes == 0 ? from.range().address() : at,
        bytes,
        from,
        offered ? bytes : lengthBytes,
        offered || last);
  }

  private static int part(long chunk) {
    return (int) (chunk % PARTS);
  }

  private long bytes(long chunk) {
    return Math.clamp(lengthBytes - chunk * chunkBytes, 0, chunkBytes);
  }

  /** A part is over: it left, or it failed. */
  void sent(int part, boolean left) {
    cutShort |= !left;
    request().returned(1);
    states[part] = FREE;
    while (finished < posted && states[part(finished)] == FREE) {
      finished++;
    }
    request().restartBound();
    if (isLive() && finished < chunks) {
      // A block is free, or the last may go.
      sender.link().sink().tasks().defer(going);
    }
    request().settle();
  }

  /** Whether its receive offers a block for each chunk. */
  boolean isOffered() {
    return offered;
  }

  /** Its receive. */
  long receiveIndex() {
    return receiveIndex;
  }

  /** Its true length. */
  long lengthTold() {
    return lengthBytes;
  }

  /** How many chunks of a staged receive are delivered, from the first on; 0 of another. */
  long delivered() {
    return offered ? finished : 0;
  }

  /** The receiver's answer whether a stripe of a chunk arrived; whether it was awaited. */
  boolean answered(long index, long chunk, int stripe, int ofTry, boolean arrived) {
    return parts.answered(index, chunk, stripe, ofTry, arrived);
  }

  @Override
  void checked() {
    parts.checked();
  }

  private void partFailed() {
    Failure why = parts.failure();
    if (why != null) {
      fail(why);
    }
  }

  @Override
  void cut() {
    Failure why = request().failure();
    if (why != null) {
      parts.fail(why);
    }
  }

  @Override
  boolean isComplete() {
    return finished == chunks && !cutShort;
  }

  @Override
  long progress() {
    return parts.progress();
  }

  @Override
  boolean endsByItself() {
    return posted == chunks && parts.endByThemselves();
  }

  @Override
  boolean isTimed() {
    return true;
  }

  @Override
  long movedBytes() {
    return lengthBytes;
  }

  @Override
  void endUse() {
    Failure why = request().failure();
    if (why != null && !parts.isQuiet()) {
      // The endpoint is gone: nothing of them comes back.
      parts.abandon(why);
    }
    StagingRing blocks = ring;
    StagingSpace from = space;
    if (blocks != null && from != null) {
      from.give(blocks);
    }
    ring = null;
    space = null;
    super.endUse();
  }

  @Override
  String where() {
    return "isend of message %d in chunks to %s"
        .formatted(receiveIndex, sender.link().describePeer());
  }

  @Override
  String missing() {
    return "of %d chunks %d are copied or on their way, %d posted, %d over%s"
        .formatted(chunks, started, posted, finished, parts.missing());
  }
}
