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
  /** More than what sockets hold. */
  private static final long MOST_BYTES = 64L << 20;

  private static final long EDGE_BYTES = 64;
  private static final Duration AFTERWARDS = Duration.ofSeconds(1);

  private LateWriteCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.CLOSING,
                "endpoint-ends-writes",
                "fi_endpoint(3), fi_close: of a write that is under way, nothing lands any more when"
                    + " its target's endpoint is closed",
                LateWriteCases::endpointEndsWrites)
            .within(Duration.ofSeconds(40)));
  }

  private static void endpointEndsWrites(Bench bench) {
    Pair pair = bench.pair();
    Peer right = pair.right();
    // Polls the same domain when the endpoint is gone.
    if (bench.info().registrationScope() == RegistrationScope.DOMAIN) {
      bench.beside(right, "beside");
    }
    long bytes = Math.min(MOST_BYTES, bench.info().limits().maxMessageBytes());
    Buffer source = pair.left().buffer(bytes, Access.WRITE);
    Buffer target = right.buffer(bytes, Access.REMOTE_WRITE);
    source.fill(bytes, 3);
    target.clear();
    pair.left().write(source, bytes, pair.toRight(), target.target(), 0);
    MemorySegment memory = target.memory();
    MemorySegment end = memory.asSlice(bytes - EDGE_BYTES);
    bench.await(right, "the write to begin", () -> Bytes.touched(memory.asSlice(0, EDGE_BYTES)) >= 0);
    if (Bytes.touched(end) >= 0) {
      throw new NotClaimedException(
          "a write of %d bytes lands at once: there is no middle to close in".formatted(bytes));
    }
    if (bench.info().registrationScope() == RegistrationScope.DOMAIN) {
      right.endpoint().close();
    } else {
      bench.close(right);
    }
    Bytes.clear(memory);
    bench.watch(AFTERWARDS);
    long late = Bytes.touched(memory);
    Expect.that(
        late < 0,
        "no byte to land after the target's endpoint was closed",
        "byte %d of %d did".formatted(late, bytes));
  }
}
