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
    final @Nullable Shipment shipment;
    final int peer;
    final long bytes;
    final boolean delivery;
    final boolean receive;

    Use(@Nullable Shipment shipment, int peer, long bytes, boolean delivery, boolean receive) {
      this.shipment = shipment;
      this.peer = peer;
      this.bytes = bytes;
      this.delivery = delivery;
      this.receive = receive;
    }
  }

  private final WorkloadOptions options;
  private final Meeting meeting;
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
      Meeting meeting,
      int rank,
      int railIndex,
      Rail rail,
      SplittableRandom random) {
    this.options = options;
    this.meeting = meeting;
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
    Shipment shipment = meeting.ship(rank, peer, railIndex, bytes, null, Shipment.NO_SLOT, true);
    MemorySegment buffer = rail.buffer(context, bytes);
    buffer.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, shipment.id);
    Pattern.fill(buffer.asSlice(HEADER_BYTES), shipment.id, HEADER_BYTES);
    int result =
        random.nextBoolean()
            ? rail.endpoint()
                .sendData(buffer.address(), bytes, rail.descriptor(), shipment.id, peer, context)
            : rail.endpoint().send(buffer.address(), bytes, rail.descriptor(), peer, context);
    return posted(result, context, new Use(shipment, peer, bytes, false, false), "send");
  }

  private boolean write(int peer) {
    int slot = freeSlot(peer);
    Door door = meeting.door(peer, railIndex);
    Integer context = slot < 0 || door == null ? null : rail.takeContext();
    if (context == null || door == null || inFlight >= Rail.CONTEXTS - Rail.RECEIVES) {
      giveBack(context);
      return false;
    }
    long bytes = length();
    boolean withData = writeData && random.nextBoolean();
    boolean delivery = random.nextBoolean();
    long offset = ((long) rank * Rail.SLOTS + slot) * Rail.SLOT_BYTES;
    Shipment shipment =
        meeting.ship(
            rank, peer, railIndex, bytes, door.window().asSlice(offset, bytes), slot, withData);
    MemorySegment buffer = rail.buffer(context, bytes);
    Pattern.fill(buffer, shipment.id, 0);
    long flags = delivery ? PostFlags.DELIVERY_COMPLETE : PostFlags.NONE;
    long to = door.windowAddress() + offset;
    int result =
        withData
            ? rail.endpoint()
                .writeData(
                    buffer.address(),
                    bytes,
                    rail.descriptor(),
                    shipment.id,
                    peer,
                    to,
                    door.windowKey(),
                    context,
                    flags)
            : rail.endpoint()
                .write(
                    buffer.address(),
                    bytes,
                    rail.descriptor(),
                    peer,
                    to,
                    door.windowKey(),
                    context,
                    flags);
    boolean taken =
        posted(result, context, new Use(shipment, peer, bytes, delivery, false), "write");
    if (taken) {
      slotsTaken.set(peer * Rail.SLOTS + slot);
    }
    return taken;
  }

  private boolean read(int peer) {
    Door door = meeting.door(peer, railIndex);
    Integer context = door == null ? null : rail.takeContext();
    if (context == null || door == null || inFlight >= Rail.CONTEXTS - Rail.RECEIVES) {
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
                door.sourceAddress(),
                door.sourceKey(),
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
      arrived(meeting.shipment(data), null);
      return;
    }
    Use use = take(context);
    Shipment shipment = use.shipment;
    if (use.receive) {
      received(context, flags, lengthBytes, data);
    } else if (shipment != null) {
      shipment.sent = true;
      settle(use, shipment);
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
    Shipment shipment = use.shipment;
    if (shipment != null) {
      shipment.sent = true;
      shipment.failed = true;
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
  private void settle(Use use, Shipment shipment) {
    if (use.delivery) {
      long at = shipment.mismatch();
      check(at < 0, "delivered %s differs at %d".formatted(shipment, at));
      shipment.seen = true;
      if (!shipment.announced || shipment.arrivals > 0) {
        slotsTaken.clear(use.peer * Rail.SLOTS + shipment.slot);
      }
    }
  }

  private void received(int context, long flags, long bytes, long data) {
    MemorySegment buffer = rail.buffer(context, bytes);
    Shipment shipment = meeting.shipment(buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
    check(bytes == shipment.bytes, "received %d B of %s".formatted(bytes, shipment));
    boolean withData = (flags & CompletionFlags.REMOTE_CQ_DATA) != 0;
    check(!withData || data == shipment.id, "received data %d of %s".formatted(data, shipment));
    arrived(shipment, buffer.asSlice(HEADER_BYTES));
  }

  private void arrived(Shipment shipment, @Nullable MemorySegment message) {
    shipment.arrivals++;
    check(shipment.to == rank, shipment + " came to rank " + rank);
    check(shipment.rail == railIndex, shipment + " came on rail " + railIndex);
    check(shipment.arrivals == 1, shipment + " came " + shipment.arrivals + " times");
    long at =
        message == null
            ? shipment.mismatch()
            : Pattern.mismatch(message, shipment.id, HEADER_BYTES);
    check(at < 0, "%s differs at %d on arrival".formatted(shipment, at));
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
