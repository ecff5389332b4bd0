package org.jofi.rdma.engine;

import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.staging.ChunkCopies;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * A receive into device memory, chunk by chunk through host blocks. Used again for the next such
 * receive of its slot.
 *
 * <p>Blocks are offered in order: {@code finished <= offered}, and no more are on offer than there
 * are. It has as many indices as it has blocks, and their entries take the offers in turn, so that
 * an entry is written again only when its last chunk was finished. Its task is asked until all were
 * offered and copied.
 */
final class ChunkedReceive extends IncomingReceive implements ChunkCopies.Listener {
  private final Transfer entries;
  private final ChunkCopies copies;
  private final Task going = new Going();
  private final OfferedChunks there = new OfferedChunks();
  private int places;
  private boolean taken;
  private @Nullable StagingSpace space;
  private @Nullable StagingRing ring;
  private long address;
  private long roomBytes;
  private int tag;
  private int chunkShift;
  private long chunks;
  private long offered;
  private long finished;
  private long total;

  /** Whether an offer that was written before may land on a later one of its entry. */
  private boolean mayHide;

  /** Whether one of its entries is with the sender, who counts them all then. */
  private boolean announced;

  ChunkedReceive(Receiver receiver, Request request) {
    super(receiver, request);
    entries = receiver.link().sink().overControl(this);
    copies = new ChunkCopies(receiver.link().sink().tasks(), this);
  }

  /** Offers blocks, and copies what arrived, until all were offered and copied. */
  private final class Going extends Task {
    @Override
    protected boolean advance() {
      StagingRing blocks = ring;
      return !isLive() || blocks == null || goOn(blocks) || !isLive();
    }
  }

  /** How many indices a receive takes. */
  static int entries(StagingSpace staging, StagingRing blocks, long bytes) {
    return (int) Math.min(blocks.blocks(), chunks(bytes, staging.shape().chunkShift()));
  }

  private static long chunks(long bytes, int shift) {
    return Math.max(1, (bytes + (1L << shift) - 1) >> shift);
  }

  void start(
      int entriesOfIt,
      long deviceAddress,
      long bytes,
      int tagged,
      StagingSpace staging,
      StagingRing blocks) {
    places = entriesOfIt;
    taken = false;
    address = deviceAddress;
    roomBytes = bytes;
    tag = tagged;
    space = staging;
    ring = blocks;
    copies.use(staging);
    chunkShift = staging.shape().chunkShift();
    chunks = chunks(bytes, chunkShift);
    offered = 0;
    finished = 0;
    total = 0;
    there.start();
    announced = false;
    mayHide = false;
    receiver().announcer().begin(entries);
    begin();
  }

  @Override
  void announce() {
    receiver().link().submit(going);
  }

  @Override
  int places() {
    return taken && index() == NONE ? 0 : places;
  }

  @Override
  int count() {
    return 1;
  }

  @Override
  int tag(int sub) {
    return tag;
  }

  @Override
  long indexOf(int sub) {
    return index();
  }

  @Override
  int sub(long of) {
    return (int) (of - index());
  }

  @Override
  boolean isOpen(int sub) {
    return !taken && finished == 0 && there.isUntouched(0);
  }

  @Override
  long roomBytes(int sub) {
    return roomBytes;
  }

  /** It is in the first blocks then, as if it had been written there, and nothing follows. */
  @Override
  void fill(int sub, long from, int lengthBytes) {
    long filled = chunks(lengthBytes, chunkShift);
    StagingRing blocks = ring;
    if (blocks == null || filled > places) {
      fail(
          new Failure(
              FailureCause.EXHAUSTED,
              0,
              where(),
              "a short message of %d bytes does not fit into %d blocks"
                  .formatted(lengthBytes, places)));
      return;
    }
    if (hasRoom() && offered == 0) {
      // The sender looks at each entry that has an index.
      offer(blocks);
      if (!isLive()) {
        return;
      }
    }
    taken = true;
    chunks = filled;
    offered = Math.max(filled, offered);
    for (int chunk = 0; chunk < filled; chunk++) {
      long at = (long) chunk << chunkShift;
      int bytes = (int) Math.min(lengthBytes - at, 1L << chunkShift);
      receiver().link().sink().copy(from + at, blocks.block(chunk), bytes);
      there.arrive(chunk, chunk, bytes);
    }
    total = lengthBytes;
    request().restartBound();
    finish();
  }

  @Override
  long lengthBytes(int sub) {
    return total;
  }

  private boolean goOn(StagingRing blocks) {
    boolean copied = copyArrived(blocks);
    offer(blocks);
    return copied;
  }

  private int entry(long chunk) {
    return (int) (chunk % places);
  }

  /** Starts the copies of what arrived; whether none is left. */
  private boolean copyArrived(StagingRing blocks) {
    for (long chunk = finished; chunk < offered && isLive(); chunk++) {
      int entry = entry(chunk);
      if (there.hasArrived(entry)) {
        int answer =
            copies.toDevice(
                entry,
                blocks.block(chunk),
                address + (chunk << chunkShift),
                there.lengthBytes(entry));
        if (answer == ChunkCopies.AGAIN) {
          return false;
        }
        if (answer < 0) {
          fail(copies.failure(answer));
          return true;
        }
        request().begun(1);
        there.copying(entry);
      }
    }
    return true;
  }

  /** Offers blocks that are free. */
  private void offer(StagingRing blocks) {
    while (isLive() && hasRoom() && offered < chunks && offered - finished < blocks.blocks()) {
      int entry = entry(offered);
      if (entries.isUnderWay(entry)) {
        // The copy of the entry still belongs to the write of its last round, which asks again.
        return;
      }
      there.offer(entry, offered);
      receiver()
          .announcer()
          .offer(
              entries,
              entry,
              index(),
              indices(),
              offered,
              blocks,
              roomBytes,
              tag,
              chunkShift,
              handled());
      offered++;
      add(entries, 1 << entry);
      receiver().link().sink().tasks().submit(entries);
    }
  }

  @Override
  public void completed(Transfer of, int entry) {
    request().returned(1);
    if (!announced) {
      announced = true;
      receiver().announced(places);
    }
    proceed();
  }

  @Override
  public boolean failed(
      Transfer of, int entry, Failure why, Certainty certainty, boolean railLeft) {
    if (!isLive() || !railLeft) {
      return super.failed(of, entry, why, certainty, railLeft);
    }
    mayHide |= certainty == Certainty.UNKNOWN;
    return true;
  }

  /** The same bytes at the same place: if the sender has read them, it reads the next round. */
  @Override
  void checked() {
    for (int entry = 0; entry < places && mayHide && isLive(); entry++) {
      if (there.awaitsFirst(entry) && !entries.isUnderWay(entry)) {
        receiver().announcer().placeOffer(entries, entry, index() + entry);
        add(entries, 1 << entry);
        receiver().link().sink().tasks().submit(entries);
      }
    }
  }

  @Override
  boolean stripe(int sub, int immediate) {
    if (taken || !there.stripe(sub, immediate)) {
      return false;
    }
    check(sub);
    return true;
  }

  @Override
  boolean trueLength(int sub, long lengthBytes, long chunk) {
    if (taken || lengthBytes >= room(sub) || !there.trueLength(sub, chunk, lengthBytes)) {
      return false;
    }
    check(sub);
    return true;
  }

  @Override
  int hasStripe(int sub, int stripe, long chunk) {
    return taken ? Receiver.ARRIVED : there.hasStripe(sub, chunk, stripe);
  }

  @Override
  boolean written(int sub, int immediate, long chunk) {
    if (taken || !there.written(sub, chunk, immediate)) {
      return false;
    }
    check(sub);
    return true;
  }

  @Override
  void delivered(int sub, long lengthBytes, long chunksOfIt) {
    if (sub != 0 || taken || lengthBytes > roomBytes) {
      return;
    }
    long through = Math.min(chunksOfIt, offered);
    for (long chunk = finished; chunk < through && isLive(); chunk++) {
      int entry = entry(chunk);
      if (there.isOffered(entry, chunk)) {
        arrive(entry, Math.clamp(lengthBytes - (chunk << chunkShift), 0, room(entry)));
      }
    }
  }

  @Override
  boolean wasPosted() {
    return entries.wasPosted();
  }

  @Override
  void cut() {
    drop(entries);
  }

  @Override
  boolean isWritten() {
    return offered > 0 && !entries.isUnderWay(0);
  }

  /** How much of the receive the chunk of an entry takes. */
  private long room(int entry) {
    return Math.min(1L << chunkShift, roomBytes - (there.chunk(entry) << chunkShift));
  }

  private void check(int entry) {
    long bytes = there.wholeBytes(entry, room(entry));
    if (bytes >= 0) {
      arrive(entry, bytes);
    }
  }

  private void arrive(int entry, long bytes) {
    total += bytes;
    request().restartBound();
    there.arrive(entry, there.chunk(entry), bytes);
    finish();
  }

  @Override
  public void copied(int part, @Nullable Failure why) {
    request().returned(1);
    there.copied(part);
    request().restartBound();
    if (why == null) {
      finish();
    } else {
      fail(why);
    }
  }

  private void finish() {
    while (finished < offered && there.isFree(entry(finished))) {
      finished++;
      if (finished == chunks) {
        receiver().messageArrived(lengthBytes(0));
      }
    }
    proceed();
    if (finished == chunks) {
      receiver().failIfPeerIsDone();
    }
  }

  private void proceed() {
    if (isLive() && finished < chunks) {
      receiver().link().sink().tasks().defer(going);
    }
    request().settle();
  }

  @Override
  boolean isComplete() {
    return finished == chunks;
  }

  /** It is in device memory, and waits for its offers' writes alone. */
  @Override
  boolean endsByItself() {
    return finished == chunks;
  }

  @Override
  boolean isTimed() {
    if (finished > 0) {
      return true;
    }
    for (int entry = 0; entry < places; entry++) {
      if (there.hasSome(entry)) {
        return true;
      }
    }
    return false;
  }

  @Override
  long movedBytes() {
    return total;
  }

  @Override
  void endUse() {
    giveRoom();
    StagingSpace staging = space;
    StagingRing blocks = ring;
    space = null;
    ring = null;
    if (staging != null && blocks != null) {
      if (receiver().hasPeerVanished() && offered > finished && wasPosted()) {
        blocks.registration().retire();
      }
      staging.give(blocks);
    }
  }

  @Override
  String where() {
    return "irecv of message %d in chunks from %s"
        .formatted(index(), receiver().link().describePeer());
  }

  @Override
  String missing() {
    return "of %d chunks %d were offered a block, %d are in device memory%s"
        .formatted(
            chunks,
            offered,
            finished,
            offered > finished ? "; of the next " + there.describe(entry(finished)) : "");
  }
}
