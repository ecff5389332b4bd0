package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.util.ArrayList;
import java.util.List;
import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.RingLinks;
import org.jspecify.annotations.Nullable;

/**
 * One step of a {@link DoublingAllReduce}: a message to a partner, one from it, or both. What is to
 * be added lands beside the array, since the array is what is sent meanwhile. For one thread.
 */
final class DoublingStep implements AutoCloseable {
  private final BoundedWait patience;
  private final RingMemory memory;
  private final String partner;
  private final boolean adds;
  private final long landingOffset;
  private final @Nullable OutgoingArray outgoing;
  private final @Nullable IncomingArray incoming;

  /**
   * Registers its memory.
   *
   * @param landingOffset what it may use of the landing area, in bytes
   */
  DoublingStep(RingLinks links, RingMemory memory, DoublingSchedule.Step step, long landingOffset) {
    this.patience = links.patience();
    this.memory = memory;
    this.partner = "rank " + step.partner();
    this.adds = step.action().adds();
    this.landingOffset = landingOffset;
    outgoing = step.action().sends() ? new OutgoingArray(links, memory, step.partner()) : null;
    incoming =
        step.action().receives()
            ? new IncomingArray(links, adds ? memory.landing() : memory.array(), step.partner())
            : null;
  }

  /**
   * Posts the receive before the step begins, if it needs nothing of the steps before. It is there
   * then when the partner sends.
   */
  void prepare(int count) {
    if (adds && incoming != null) {
      incoming.receive(landingOffset, bytes(count));
    }
  }

  /** Begins the step; the one before is over. */
  void begin(long offset, int count) {
    if (!adds && incoming != null) {
      incoming.receive(bytes(offset), bytes(count));
    }
    if (outgoing != null) {
      outgoing.send(bytes(offset), bytes(count));
    }
  }

  /** Waits until the step is over. */
  void finish(long offset, int count) {
    patience.progressed();
    while (!isOver()) {
      patience.idle(partner);
    }
    if (adds) {
      memory.add(bytes(offset), landingOffset, count);
    }
  }

  private boolean isOver() {
    // Both are tested, since the communicators may be of different endpoints.
    boolean arrived = incoming == null || incoming.isOver();
    boolean left = outgoing == null || outgoing.isOver();
    return arrived && left;
  }

  private static long bytes(long elements) {
    return elements * JAVA_FLOAT.byteSize();
  }

  List<String> paths() {
    List<String> paths = new ArrayList<>();
    if (outgoing != null) {
      paths.add(outgoing.path());
    }
    if (incoming != null) {
      paths.add(incoming.path());
    }
    return paths;
  }

  @Override
  public void close() {
    if (outgoing != null) {
      outgoing.close();
    }
    if (incoming != null) {
      incoming.close();
    }
  }
}
