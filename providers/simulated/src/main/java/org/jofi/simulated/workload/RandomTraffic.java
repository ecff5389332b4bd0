package org.jofi.simulated.workload;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.PostFlags;
import org.jspecify.annotations.Nullable;

/** Posts random operations of a rank on one rail, and checks their completions. */
final class RandomTraffic implements CompletionQueue.Sink {
  private static final int HEADER_BYTES = 8;

  /** The operation that uses a context. */
  private static final class Use {
    final @Nullable Transmission transmission;
    final int peer;
    final long bytes;
    final boolean delivery;
    final boolean receive;

    Use(
        @Nullable Transmission transmission,
        int peer,
        long bytes,
        boolean delivery,
        boolean receive) {
      this.transmission = transmission;
      this.peer = peer;
      this.bytes = bytes;
      this.delivery = delivery;
      this.receive = receive;
    }
  }

  private final WorkloadOptions options;
  private final Bootstrap bootstrap;
  private final int rank;
  private final int railIndex;
  private final Rail rail;
  private final SplittableRandom random;
  private final @Nullable Use[] uses = new Use[Rail.CONTEXTS];
  private final BitSet slotsTaken = new BitSet();
  private final boolean writeData;
  private int receives;
  private int inFlight;
  private boolean closing;
  private @Nullable String failure;

  RandomTraffic(
      WorkloadOptions options,
      Bootstrap bootstrap,
      int rank,
      int railIndex,
      Rail rail,
      SplittableRandom random) {
    this.options = options;
    this.bootstrap = bootstrap;
    this.rank = rank;
    this.railIndex = railIndex;
    this.rail = rail;
    this.random = random;
    this.writeData = options.profile().behaviour().writeData();
  }

  /** Whether none of its own operations is in flight, except receives. */
  boolean isQuiet() {
    return inFlight == 0;
  }

  boolean hasNoReceives() {
    return receives == 0;
  }

  void throwFailure() {
    if (failure != null) {
      throw new IllegalStateException("rank %d rail %d: %s".formatted(rank, railIndex, failure));
    }
  }

  /** Posts receives until there are enough; returns how many were posted. */
  int postReceives() {
    int posted = 0;
    while (!closing && receives < Rail.RECEIVES) {
      Integer context = rail.takeContext();
      if (context == null) {
        break;
      }
      MemorySegment buffer = rail.buffer(context, Rail.SLOT_BYTES);
      int result =
          rail.endpoint()
              .recv(
                  buffer.address(),
                  buffer.byteSize(),
                  rail.descriptor(),
                  AddressVector.ANY,
                  context);
      if (result != 0) {
        rail.giveContext(context);
        requireAgain(result, "recv");
        break;
      }
      uses[context] = new Use(null, -1, buffer.byteSize(), false, true);
      receives++;
      posted++;
    }
    return posted;
  }

  /** Cancels all receives; returns how many there were. */
  int cancelReceives() {
    if (closing) {
      return 0;
    }
    closing = true;
    int cancelled = 0;
    for (int context = 0; context < uses.length; context++) {
      Use use = uses[context];
      if (use != null && use.receive && rail.endpoint().cancel(context) == 0) {
        cancelled++;
      }
    }
    return cancelled;
  }

  /** Does one action drawn from the seed; returns false if it is not possible now. */
  boolean postAny() {
    int peer = random.nextInt(options.ranks());
    return switch (random.nextInt(10)) {
      case 0, 1, 2 -> send(peer);
      case 3, 4, 5, 6 -> write(peer);
      case 7, 8 -> read(peer);
      default -> register();
    };
  }

  private boolean register() {
    if (rail.hasMore() && random.nextBoolean()) {
      rail.closeMore(random.nextInt(1 << 16));
      return true;
    }
    try {
      rail.registerMore();
    } catch (FabricException e) {
      if (!Rail.isRefusal(e)) {
        throw e;
      }
    }
    return true;
  }

  private boolean send(int peer) {
    Integer context = rail.takeContext();
    if (context == null || inFlight >= Rail.CONTEXTS - Rail.RECEIVES) {
      giveBack(context);
      return false;
    }
    long bytes = HEADER_BYTES + length() % (Rail.SLOT_BYTES - HEADER_BYTES);
    Transmission transmission =
        bootstrap.record(rank, peer, railIndex, bytes, null, Transmission.NO_SLOT, true);
    MemorySegment buffer = rail.buffer(context, bytes);
    buffer.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, transmission.id);
    Pattern.fill(buffer.asSlice(HEADER_BYTES), transmission.id, HEADER_BYTES);
    int result =
        random.nextBoolean()
            ? rail.endpoint()
                .sendData(
                    buffer.address(), bytes, rail.descriptor(), transmission.id, peer, context)
            : rail.endpoint().send(buffer.address(), bytes, rail.descriptor(), peer, context);
    return posted(result, context, new Use(transmission, peer, bytes, false, false), "send");
  }

  private boolean write(int peer) {
    int slot = freeSlot(peer);
    ConnectionInfo peerInfo = bootstrap.connectionInfo(peer, railIndex);
    Integer context = slot < 0 || peerInfo == null ? null : rail.takeContext();
    if (context == null || peerInfo == null || inFlight >= Rail.CONTEXTS - Rail.RECEIVES) {
      giveBack(context);
      return false;
    }
    long bytes = length();
    boolean withData = writeData && random.nextBoolean();
    boolean delivery = random.nextBoolean();
    long offset = ((long) rank * Rail.SLOTS + slot) * Rail.SLOT_BYTES;
    Transmission transmission =
        bootstrap.record(
            rank, peer, railIndex, bytes, peerInfo.window().asSlice(offset, bytes), slot, withData);
    MemorySegment buffer = rail.buffer(context, bytes);
    Pattern.fill(buffer, transmission.id, 0);
    long flags = delivery ? PostFlags.DELIVERY_COMPLETE : PostFlags.NONE;
    long to = peerInfo.windowAddress() + offset;
    int result =
        withData
            ? rail.endpoint()
                .writeData(
                    buffer.address(),
                    bytes,
                    rail.descriptor(),
                    transmission.id,
                    peer,
                    to,
                    peerInfo.windowKey(),
                    context,
                    flags)
            : rail.endpoint()
                .write(
                    buffer.address(),
                    bytes,
                    rail.descriptor(),
                    peer,
                    to,
                    peerInfo.windowKey(),
                    context,
                    flags);
    boolean taken =
        posted(result, context, new Use(transmission, peer, bytes, delivery, false), "write");
    if (taken) {
      slotsTaken.set(peer * Rail.SLOTS + slot);
    }
    return taken;
  }

  private boolean read(int peer) {
    ConnectionInfo peerInfo = bootstrap.connectionInfo(peer, railIndex);
    Integer context = peerInfo == null ? null : rail.takeContext();
    if (context == null || peerInfo == null || inFlight >= Rail.CONTEXTS - Rail.RECEIVES) {
      giveBack(context);
      return false;
    }
    long bytes = length();
    MemorySegment buffer = rail.buffer(context, bytes);
    int result =
        rail.endpoint()
            .read(
                buffer.address(),
                bytes,
                rail.descriptor(),
                peer,
                peerInfo.sourceAddress(),
                peerInfo.sourceKey(),
                context);
    return posted(result, context, new Use(null, peer, bytes, false, false), "read");
  }

  private void giveBack(@Nullable Integer context) {
    if (context != null) {
      rail.giveContext(context);
    }
  }

  private int freeSlot(int peer) {
    int from = peer * Rail.SLOTS;
    int slot = slotsTaken.nextClearBit(from) - from;
    return slot < Rail.SLOTS ? slot : -1;
  }

  private long length() {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(9);
      case 1 -> random.nextInt(130);
      default -> random.nextInt(Rail.SLOT_BYTES);
    };
  }

  private boolean posted(int result, int context, Use use, String call) {
    if (result != 0) {
      rail.giveContext(context);
      requireAgain(result, call);
      return false;
    }
    uses[context] = use;
    inFlight++;
    return true;
  }

  private static void requireAgain(int result, String call) {
    if (result != -FabricErrno.EAGAIN) {
      throw new IllegalStateException(call + " returned -" + FabricErrno.name(-result));
    }
  }

  @Override
  public void completed(int context, long flags, long lengthBytes, long data) {
    if (context == CompletionQueue.NO_CONTEXT) {
      arrived(bootstrap.transmission(data), null);
      return;
    }
    Use use = take(context);
    Transmission transmission = use.transmission;
    if (use.receive) {
      received(context, flags, lengthBytes, data);
    } else if (transmission != null) {
      transmission.sent = true;
      settle(use, transmission);
    } else {
      long token = RandomRank.sourceToken(use.peer, railIndex);
      long at = Pattern.mismatch(rail.buffer(context, use.bytes), token, 0);
      check(at < 0, "read of %d B differs at %d".formatted(use.bytes, at));
    }
    rail.giveContext(context);
  }

  @Override
  public void failed(CompletionError error) {
    Use use = take(error.context());
    Transmission transmission = use.transmission;
    if (transmission != null) {
      transmission.sent = true;
      transmission.failed = true;
    }
    rail.giveContext(error.context());
  }

  private Use take(int context) {
    Use use = uses[context];
    if (use == null) {
      throw new IllegalStateException("completion for context " + context + ", which is free");
    }
    uses[context] = null;
    if (use.receive) {
      receives--;
    } else {
      inFlight--;
    }
    return use;
  }

  /** A write or send completed. */
  private void settle(Use use, Transmission transmission) {
    if (use.delivery) {
      long at = transmission.mismatch();
      check(at < 0, "delivered %s differs at %d".formatted(transmission, at));
      transmission.seen = true;
      if (!transmission.announced || transmission.arrivals > 0) {
        slotsTaken.clear(use.peer * Rail.SLOTS + transmission.slot);
      }
    }
  }

  private void received(int context, long flags, long bytes, long data) {
    MemorySegment buffer = rail.buffer(context, bytes);
    Transmission transmission =
        bootstrap.transmission(buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
    check(bytes == transmission.bytes, "received %d B of %s".formatted(bytes, transmission));
    boolean withData = (flags & CompletionFlags.REMOTE_CQ_DATA) != 0;
    check(
        !withData || data == transmission.id,
        "received data %d of %s".formatted(data, transmission));
    arrived(transmission, buffer.asSlice(HEADER_BYTES));
  }

  private void arrived(Transmission transmission, @Nullable MemorySegment message) {
    transmission.arrivals++;
    check(transmission.to == rank, transmission + " came to rank " + rank);
    check(transmission.rail == railIndex, transmission + " came on rail " + railIndex);
    check(transmission.arrivals == 1, transmission + " came " + transmission.arrivals + " times");
    long at =
        message == null
            ? transmission.mismatch()
            : Pattern.mismatch(message, transmission.id, HEADER_BYTES);
    check(at < 0, "%s differs at %d on arrival".formatted(transmission, at));
  }

  private void check(boolean holds, String what) {
    if (!holds && failure == null) {
      failure = what;
    }
  }

  @Override
  public String toString() {
    return "rail %d: %d in flight, %d receives".formatted(railIndex, inFlight, receives);
  }
}
