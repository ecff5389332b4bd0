package org.jofi.cli.perf;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.Result;

/**
 * A barrier of two ranks: both go on within a message time. A rank that waits makes progress, so
 * that the other's one-sided operations and completions are served meanwhile.
 */
final class Handshake {
  private static final int TAG = 2;
  private static final long BYTES = 8;
  private static final String WHAT = "the other side";

  private final RingLinks links;
  // Of an automatic arena, because after a failure NICs may still access it.
  private final MemorySegment out = Arena.ofAuto().allocate(BYTES);
  private final MemorySegment in = Arena.ofAuto().allocate(BYTES);

  Handshake(RingLinks links) {
    this.links = links;
  }

  void await() {
    long receive;
    links.patience().progressed();
    while ((receive = links.fromPrevious().irecv(in, TAG)) == Result.TRY_AGAIN) {
      links.fromPrevious().progress();
      links.patience().idle(WHAT);
    }
    long send;
    while ((send = links.toNext().isend(out, TAG)) == Result.TRY_AGAIN) {
      links.toNext().progress();
      links.patience().idle(WHAT);
    }
    links.patience().await(links.toNext(), send, WHAT);
    links.patience().await(links.fromPrevious(), receive, WHAT);
  }
}
