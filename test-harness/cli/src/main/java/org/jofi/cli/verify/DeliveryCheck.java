package org.jofi.cli.verify;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;

/**
 * The loopback experiment. It fills source and target with different bytes, sends the source, and
 * reads the target: before a flush, after some time, after a flush, and after any other flush. If
 * the bytes become right at some point, that point identifies the fault; otherwise the wrong bytes
 * do.
 */
public final class DeliveryCheck {
  /** Long enough for data that is only late. */
  private static final Duration LATE = Duration.ofMillis(100);

  private final DeliveryPath path;

  /** Makes a check of a path. */
  public DeliveryCheck(DeliveryPath path) {
    this.path = path;
  }

  /** Sends one message and finds out whether it arrived. */
  public DeliveryFinding run(BytePattern pattern) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocate(path.messageBytes());
      MemorySegment target = arena.allocate(path.messageBytes() + 2 * path.guardBytes());
      pattern.fillSent(source);
      path.putSource(source);
      pattern.fillBefore(target, -path.guardBytes());
      path.putTarget(target);
      Optional<String> failure = path.send();
      if (failure.isPresent()) {
        return new DeliveryFinding(DeliveryFault.REPORTED, false, failure.get());
      }
      return find(target, pattern);
    }
  }

  private DeliveryFinding find(MemorySegment target, BytePattern pattern) {
    if (look(target, pattern).isDelivered()) {
      path.flush();
      return delivered(target, pattern);
    }
    path.settle(LATE);
    TargetComparison late = look(target, pattern);
    if (late.isDelivered()) {
      return new DeliveryFinding(DeliveryFault.EARLY_COMPLETION, false, late.detail());
    }
    DeliveryPath.Flush flush = path.flush();
    TargetComparison flushed = look(target, pattern);
    if (flushed.isDelivered()) {
      return new DeliveryFinding(
          DeliveryFault.STALE_UNTIL_FLUSH,
          flush == DeliveryPath.Flush.DONE,
          "visible after the transport's own flush; before it, " + late.detail());
    }
    if (path.flushOtherwise() == DeliveryPath.Flush.DONE) {
      TargetComparison forced = look(target, pattern);
      if (forced.isDelivered()) {
        return new DeliveryFinding(
            DeliveryFault.STALE_UNTIL_FLUSH,
            false,
            "visible only after a flush other than the transport's, which %s; before it, %s"
                .formatted(
                    flush == DeliveryPath.Flush.DONE ? "did not help" : "saw no need for one",
                    flushed.detail()));
      }
    }
    return new DeliveryFinding(flushed.fault(), false, flushed.detail());
  }

  /** Checks that bytes that were right before the flush are still right after it. */
  private DeliveryFinding delivered(MemorySegment target, BytePattern pattern) {
    TargetComparison after = look(target, pattern);
    return new DeliveryFinding(after.fault(), after.isDelivered(), after.detail());
  }

  private TargetComparison look(MemorySegment target, BytePattern pattern) {
    path.readTarget(target);
    return TargetComparison.of(target, pattern, path.guardBytes(), path.messageBytes());
  }
}
