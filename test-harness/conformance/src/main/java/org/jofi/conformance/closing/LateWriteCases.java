package org.jofi.conformance.closing;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.NotClaimedException;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.RegistrationScope;

/**
 * Writes that are under way when their target closes. Whoever sends bytes again over another rail
 * must know that the first copy lands no more: closing the target's endpoint is the fence.
 */
public final class LateWriteCases {
  private static final int WRITES = 16;
  private static final long EDGE_BYTES = 64;

  /** Where time passes between polls, all may land at once by chance. */
  private static final int MOST_TRIES = 32;

  /** How often what is under way has the time that a case looks for what must not come. */
  private static final int WATCHES = 16;

  /** Of one write. */
  private enum Edge {
    FIRST,
    LAST
  }

  private LateWriteCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.CLOSING,
                "endpoint-ends-writes",
                "fi_endpoint(3), fi_close: of writes that are under way, nothing lands any more when"
                    + " their target's endpoint is closed",
                LateWriteCases::endpointEndsWrites)
            .within(Duration.ofSeconds(40)));
  }

  private static void endpointEndsWrites(Bench bench) {
    Pair pair = bench.pair();
    Peer right = pair.right();
    boolean ofDomain = bench.info().registrationScope() == RegistrationScope.DOMAIN;
    // Polls the same domain when the endpoint is gone.
    if (ofDomain) {
      bench.beside(right, "beside");
    }
    long bytes = bench.subject().moreThanIsUnderWay();
    Buffer source = pair.left().buffer(bytes, Access.WRITE);
    Buffer target = right.buffer(bytes, Access.REMOTE_WRITE);
    source.fill(bytes, 3);
    MemorySegment memory = target.memory();
    int tries = 0;
    while (tries < MOST_TRIES && !isInTheMiddle(bench, pair, source, target)) {
      tries++;
    }
    if (tries == MOST_TRIES) {
      // Then before they begin, if there is such a time.
      post(pair, source, target);
      if (landed(memory, Edge.LAST) == WRITES) {
        throw new NotClaimedException("writes land within the call that posts them");
      }
    }
    if (ofDomain) {
      right.endpoint().close();
    } else {
      bench.close(right);
    }
    Bytes.clear(memory);
    bench.watch(bench.subject().watch().multipliedBy(WATCHES));
    long late = Bytes.touched(memory);
    Expect.that(
        late < 0,
        "no byte to land after the target's endpoint was closed",
        "byte %d of %d did".formatted(late, bytes));
  }

  /** Posts all writes, and polls until the first bytes land; whether some bytes do not yet. */
  private static boolean isInTheMiddle(Bench bench, Pair pair, Buffer source, Buffer target) {
    int[] slots = post(pair, source, target);
    MemorySegment memory = target.memory();
    if (!bench.within(bench.patience(), () -> landed(memory, Edge.FIRST) > 0)) {
      throw new NotClaimedException("writes do not land at all: see rma/write-lands");
    }
    // They may land in any order.
    if (landed(memory, Edge.LAST) < WRITES) {
      return true;
    }
    for (int slot : slots) {
      pair.left().success(slot, "a write that landed");
    }
    return false;
  }

  private static int[] post(Pair pair, Buffer source, Buffer target) {
    target.clear();
    int[] slots = new int[WRITES];
    long each = target.memory().byteSize() / WRITES;
    for (int i = 0; i < WRITES; i++) {
      slots[i] =
          pair.left()
              .write(source, i * each, each, pair.toRight(), target.target().plus(i * each), 0);
    }
    return slots;
  }

  /** Of how many writes bytes are there, at that edge of each. */
  private static int landed(MemorySegment memory, Edge edge) {
    long each = memory.byteSize() / WRITES;
    int landed = 0;
    for (long at = edge == Edge.FIRST ? 0 : each - EDGE_BYTES; at < memory.byteSize(); at += each) {
      landed += Bytes.touched(memory.asSlice(at, EDGE_BYTES)) >= 0 ? 1 : 0;
    }
    return landed;
  }
}
