package org.jofi.rdma.message;

import java.util.Arrays;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.FabricErrno;
import org.jofi.rdma.endpoint.Failures;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.rdma.sequence.StripeArrivals;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A receive into device memory, chunk by chunk through host blocks. Used again for the next such
 * receive of its slot.
 *
 * <pre>
 * chunk:  FREE -- its block is offered --&gt; OFFERED -- all is there --&gt; ARRIVED -- copy --&gt; COPYING -- copied --&gt; FREE
 * </pre>
 *
 * Blocks are offered in order: {@code finished <= offered}, and no more are on offer than there
 * are. It has as many indices as it has blocks, and their entries take the offers in turn, so that
 * an entry is written again only when its last chunk was finished. As a posting it is asked until
 * all were offered and copied.
 */
final class StagedReceive extends Request implements Incoming, ChunkCopies.Listener {
  private static final int MOST = ProtocolLimits.MAX_GROUP;
  private static final long UNKNOWN = -1;
  private static final byte FREE = 0;
  private static final byte OFFERED = 1;
  private static final byte ARRIVED = 2;
  private static final byte COPYING = 3;

  private final Receiver receiver;
  private final ChunkCopies copies;
  private final byte[] states = new byte[MOST];
  private final boolean[] writing = new boolean[MOST];
  private final long[] chunkAt = new long[MOST];
  private final int[] arrivals = new int[MOST];
  private final long[] lengths = new long[MOST];
  private @Nullable StagingSpace space;
  private @Nullable StagingRing ring;
  private long index;
  private int entries;
  private long address;
  private long roomBytes;
  private int tag;
  private int chunkShift;
  private long chunks;
  private boolean hasRoom;
  private long offered;
  private long finished;
  private long total;

  /** Whether one of its entries is with the sender, who counts them all then. */
  private boolean announced;

  StagedReceive(Receiver receiver, int slot) {
    super(receiver, slot);
    this.receiver = receiver;
    copies = new ChunkCopies(receiver.link().endpoint().pending(), this);
  }

  /** How many indices a receive takes. */
  static int entries(StagingSpace staging, StagingRing blocks, long bytes) {
    return (int) Math.min(blocks.blocks(), chunks(bytes, staging.shape().chunkShift()));
  }

  private static long chunks(long bytes, int shift) {
    return Math.max(1, (bytes + (1L << shift) - 1) >> shift);
  }

  void start(
      long first,
      int indices,
      long deviceAddress,
      long bytes,
      int tagged,
      StagingSpace staging,
      StagingRing blocks) {
    index = first;
    entries = indices;
    address = deviceAddress;
    roomBytes = bytes;
    tag = tagged;
    space = staging;
    ring = blocks;
    copies.use(staging.copier());
    chunkShift = staging.shape().chunkShift();
    chunks = chunks(bytes, chunkShift);
    hasRoom = false;
    offered = 0;
    finished = 0;
    total = 0;
    Arrays.fill(states, FREE);
    Arrays.fill(writing, false);
    announced = false;
    begin();
  }

  @Override
  public long index() {
    return index;
  }

  @Override
  public int indices() {
    return entries;
  }

  @Override
  public void announce() {
    hasRoom = true;
    receiver.link().submit(this);
  }

  @Override
  public int count() {
    return 1;
  }

  @Override
  public long lengthBytes(int sub) {
    return total;
  }

  @Override
  protected boolean postAll() {
    StagingRing blocks = ring;
    if (blocks == null) {
      return true;
    }
    boolean copied = copyArrived(blocks);
    return offer(blocks) && copied;
  }

  private int entry(long chunk) {
    return (int) (chunk % entries);
  }

  /** Starts the copies of what arrived; whether none is left. */
  private boolean copyArrived(StagingRing blocks) {
    for (long chunk = finished; chunk < offered && isLive(); chunk++) {
      int entry = entry(chunk);
      if (states[entry] == ARRIVED) {
        int answer =
            copies.toDevice(
                entry, blocks.block(chunk), address + (chunk << chunkShift), lengths[entry]);
        if (answer == -FabricErrno.EAGAIN) {
          return false;
        }
        if (answer < 0) {
          fail(copies.failure(answer));
          return true;
        }
        posted();
        states[entry] = COPYING;
      }
    }
    return true;
  }

  /** Offers blocks that are free; whether as many as can be now. */
  private boolean offer(StagingRing blocks) {
    while (isLive() && offered < chunks && offered - finished < blocks.blocks()) {
      int entry = entry(offered);
      if (writing[entry]) {
        // The copy of the entry still belongs to the write of its last round, which asks again.
        return true;
      }
      chunkAt[entry] = offered;
      arrivals[entry] = StripeArrivals.NONE;
      lengths[entry] = UNKNOWN;
      states[entry] = OFFERED;
      PeerRails rails = receiver.link().control();
      int rail = rails.next();
      if (rail == PeerRails.NONE) {
        states[entry] = FREE;
        Failure why = rails.failure();
        fail(why == null ? Failures.noRail("irecv") : why);
        return true;
      }
      int answer =
          receiver
              .announcer()
              .offer(
                  this, entry, rail, index, entries, offered, blocks, roomBytes, tag, chunkShift);
      if (answer == Receiver.AGAIN) {
        states[entry] = FREE;
        return false;
      }
      offered++;
      if (answer == 0) {
        posted();
        writing[entry] = true;
      } else {
        fail(Failures.ofPost("fi_write", rails.port(rail), -answer));
      }
    }
    return true;
  }

  @Override
  public void completed(long cookie, long bytes) {
    returned();
    writing[(int) cookie] = false;
    if (!announced) {
      announced = true;
      receiver.announced(entries);
    }
    goOn();
  }

  @Override
  public void failed(long cookie, RailPort port, CompletionError error) {
    writing[(int) cookie] = false;
    super.failed(cookie, port, error);
  }

  @Override
  public boolean stripe(int sub, int immediate) {
    if (states[sub] != OFFERED || StripeArrivals.isComplete(arrivals[sub])) {
      return false;
    }
    int with = StripeArrivals.add(arrivals[sub], immediate);
    if (with < 0) {
      return false;
    }
    arrivals[sub] = with;
    check(sub);
    return true;
  }

  @Override
  public boolean trueLength(int sub, long lengthBytes) {
    if (states[sub] != OFFERED || lengths[sub] != UNKNOWN || lengthBytes >= room(sub)) {
      return false;
    }
    lengths[sub] = lengthBytes;
    check(sub);
    return true;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Nothing of a chunk is written twice: its entry stands for another chunk later, for which a
   * second arrival would count.
   */
  @Override
  public int hasStripe(int sub, int stripe) {
    return Receiver.UNKNOWN;
  }

  @Override
  public boolean written(int sub, int immediate) {
    return false;
  }

  @Override
  public boolean isWritten() {
    return offered > 0 && !writing[0];
  }

  @Override
  public void writeAgain() {
    // Nothing of a chunk is written twice. What stays lost fails at the receiver's bound.
  }

  /** How much of the receive the chunk of an entry takes. */
  private long room(int entry) {
    return Math.min(1L << chunkShift, roomBytes - (chunkAt[entry] << chunkShift));
  }

  private void check(int entry) {
    if (!StripeArrivals.isComplete(arrivals[entry])) {
      return;
    }
    if (!StripeArrivals.isShort(arrivals[entry])) {
      lengths[entry] = room(entry);
    }
    if (lengths[entry] != UNKNOWN) {
      total += lengths[entry];
      restartBound();
      // With nothing to copy it is over as it is.
      states[entry] = lengths[entry] == 0 ? FREE : ARRIVED;
      finish();
    }
  }

  @Override
  public void copied(int part, @Nullable Failure why) {
    returned();
    states[part] = FREE;
    restartBound();
    if (why == null) {
      finish();
    } else {
      fail(why);
    }
  }

  private void finish() {
    while (finished < offered && states[entry(finished)] == FREE) {
      finished++;
      if (finished == chunks) {
        receiver.messageArrived();
      }
    }
    goOn();
    if (finished == chunks) {
      receiver.failIfPeerIsDone();
    }
  }

  private void goOn() {
    if (isLive() && finished < chunks) {
      receiver.link().endpoint().pending().defer(this);
    }
    settle();
  }

  @Override
  protected boolean isComplete() {
    return finished == chunks;
  }

  /** It is in device memory, and waits for its offers' writes alone. */
  @Override
  protected boolean endsByItself() {
    return finished == chunks;
  }

  /** The sender's stripes for others may be before its own. */
  @Override
  protected long progress() {
    return receiver.stripes();
  }

  @Override
  protected boolean isTimed() {
    if (finished > 0) {
      return true;
    }
    for (int entry = 0; entry < entries; entry++) {
      if (states[entry] > OFFERED
          || (states[entry] == OFFERED
              && (arrivals[entry] != StripeArrivals.NONE || lengths[entry] != UNKNOWN))) {
        return true;
      }
    }
    return false;
  }

  @Override
  protected boolean isExposed() {
    return offered > 0 && !receiver.isPeerDone();
  }

  @Override
  protected long movedBytes() {
    return total;
  }

  @Override
  protected void endUse() {
    if (hasRoom) {
      hasRoom = false;
      receiver.unannounced().ended(entries);
    }
    StagingSpace staging = space;
    StagingRing blocks = ring;
    space = null;
    ring = null;
    if (staging != null && blocks != null) {
      if (receiver.hasPeerVanished() && offered > finished) {
        blocks.registration().retire();
      }
      staging.give(blocks);
    }
  }

  @Override
  protected String where() {
    return "irecv of message %d in chunks from %s".formatted(index, receiver.link().describePeer());
  }

  @Override
  protected String missing() {
    return "of %d chunks %d were offered a block, %d are in device memory"
        .formatted(chunks, offered, finished);
  }
}
