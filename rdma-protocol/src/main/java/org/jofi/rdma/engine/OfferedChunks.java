package org.jofi.rdma.engine;

import java.util.Arrays;
import org.jofi.rdma.sequence.StripeArrivals;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * What is there of the chunks of a staged receive: one for each of its entries, which stand for
 * another chunk when the one before is in device memory.
 *
 * <pre>
 * FREE -- its block is offered --&gt; OFFERED -- all is there --&gt; ARRIVED -- copy --&gt; COPYING -- copied --&gt; FREE
 * </pre>
 */
final class OfferedChunks {
  private static final int MOST = ProtocolLimits.MAX_GROUP;
  private static final long UNKNOWN = -1;
  private static final long NO_CHUNK = -1;
  private static final byte FREE = 0;
  private static final byte OFFERED = 1;
  private static final byte ARRIVED = 2;
  private static final byte COPYING = 3;

  private final byte[] states = new byte[MOST];
  private final long[] chunks = new long[MOST];
  private final long[] arrivals = new long[MOST];
  private final long[] lengths = new long[MOST];

  /** Stripes that are to be written again: only the word that they were counts. */
  private final int[] rewritten = new int[MOST];

  /** Begins anew: nothing is offered. */
  void start() {
    Arrays.fill(states, FREE);
    Arrays.fill(chunks, NO_CHUNK);
    // A short message may come before the first block is offered.
    Arrays.fill(arrivals, StripeArrivals.NONE);
  }

  /** A block is offered for a chunk. */
  void offer(int entry, long chunk) {
    chunks[entry] = chunk;
    arrivals[entry] = StripeArrivals.NONE;
    rewritten[entry] = 0;
    lengths[entry] = UNKNOWN;
    states[entry] = OFFERED;
  }

  /** All of a chunk is there, by whatever way; with no bytes there is nothing to copy. */
  void arrive(int entry, long chunk, long lengthBytes) {
    chunks[entry] = chunk;
    lengths[entry] = lengthBytes;
    states[entry] = lengthBytes == 0 ? FREE : ARRIVED;
  }

  /** The copy of a chunk to the device began. */
  void copying(int entry) {
    states[entry] = COPYING;
  }

  /** A chunk is in device memory. */
  void copied(int entry) {
    states[entry] = FREE;
  }

  /** Whether an entry stands for no chunk that is not over. */
  boolean isFree(int entry) {
    return states[entry] == FREE;
  }

  /** Whether all of an entry's chunk is there, and is to be copied. */
  boolean hasArrived(int entry) {
    return states[entry] == ARRIVED;
  }

  /** Whether a chunk has a block, and is not all there. */
  boolean isOffered(int entry, long chunk) {
    return states[entry] == OFFERED && chunks[entry] == chunk;
  }

  /** Whether nothing of an entry's chunk is there, which may be offered or not. */
  boolean isUntouched(int entry) {
    return states[entry] <= OFFERED && arrivals[entry] == StripeArrivals.NONE;
  }

  /** Whether a block is offered, and nothing of its chunk is there. */
  boolean awaitsFirst(int entry) {
    return states[entry] == OFFERED && arrivals[entry] == StripeArrivals.NONE;
  }

  /** Whether something of an entry's chunk is there, its true length included. */
  boolean hasSome(int entry) {
    return states[entry] > OFFERED
        || (states[entry] == OFFERED
            && (arrivals[entry] != StripeArrivals.NONE || lengths[entry] != UNKNOWN));
  }

  /** The chunk of an entry. */
  long chunk(int entry) {
    return chunks[entry];
  }

  /** The true length of an entry's chunk. */
  long lengthBytes(int entry) {
    return lengths[entry];
  }

  /** Immediate data of a stripe arrived; whether it fits. */
  boolean stripe(int entry, int immediate) {
    if (states[entry] != OFFERED
        || (rewritten[entry] & 1 << ImmediateData.stripe(immediate)) != 0
        || StripeArrivals.isComplete(arrivals[entry])) {
      return false;
    }
    long with = StripeArrivals.add(arrivals[entry], immediate);
    if (with < 0) {
      return false;
    }
    arrivals[entry] = with;
    return true;
  }

  /** The word arrived that a stripe of a chunk was written; whether it fits. */
  boolean written(int entry, long chunk, int immediate) {
    if (!isOffered(entry, chunk)) {
      return false;
    }
    rewritten[entry] &= ~(1 << ImmediateData.stripe(immediate));
    return stripe(entry, immediate);
  }

  /** The true length of a chunk arrived, that is shorter than its room; whether it fits. */
  boolean trueLength(int entry, long chunk, long lengthBytes) {
    if (!isOffered(entry, chunk) || lengths[entry] != UNKNOWN) {
      return false;
    }
    lengths[entry] = lengthBytes;
    return true;
  }

  /**
   * Whether a stripe of a chunk arrived, as {@link Receiver#hasStripe}: one that did not is to be
   * written again.
   */
  int hasStripe(int entry, long chunk, int stripe) {
    if (chunk > chunks[entry]) {
      return Receiver.UNKNOWN;
    }
    // An entry stands for another chunk only when all of the one before is there.
    if (!isOffered(entry, chunk) || StripeArrivals.has(arrivals[entry], stripe)) {
      return Receiver.ARRIVED;
    }
    rewritten[entry] |= 1 << stripe;
    return Receiver.MISSING;
  }

  /** The length of an entry's chunk if all of it is there, or less than 0. */
  long wholeBytes(int entry, long room) {
    if (!StripeArrivals.isComplete(arrivals[entry])) {
      return UNKNOWN;
    }
    return StripeArrivals.isShort(arrivals[entry]) ? lengths[entry] : room;
  }

  /** For errors: what of an entry's chunk is there. */
  String describe(int entry) {
    return switch (states[entry]) {
      case OFFERED ->
          StripeArrivals.isComplete(arrivals[entry])
              ? "all arrived but its true length"
              : awaitsFirst(entry) ? "nothing arrived" : "some arrived";
      case ARRIVED -> "all arrived, and it waits to be copied";
      default -> "the copy is under way";
    };
  }
}
