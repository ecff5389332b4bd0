package org.jofi.cli.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.collectives.Collective;
import org.jofi.collectives.Group;
import org.jofi.collectives.Plan;
import org.jofi.collectives.schedule.Operation;

/**
 * One operation of one length, with its memory. The output is memory of its own, except that of a
 * broadcast, which has none at the root. Not closed after a failure, since NICs may use the memory
 * until the transport is closed. For one thread.
 */
final class Measurement implements AutoCloseable {
  private static final long PAGE_BYTES = 4096;

  /** No element is that. */
  private static final byte STALE = (byte) 0xE5;

  private final Arena arena = Arena.ofConfined();
  private final Group group;
  private final Operation operation;
  private final Contributions contributions;
  private final int elementBytes;
  private final MemorySegment input;
  private final MemorySegment output;
  private final Plan plan;
  private int round;

  /** Connects what it needs; all ranks do so. */
  Measurement(Group group, Collective collective, String algorithm, Contributions contributions) {
    this.group = group;
    this.contributions = contributions;
    operation = collective.operation();
    elementBytes = collective.type().bytes();
    int rank = group.rank();
    output = allocate(operation.output(rank, group.size()));
    input =
        operation.kind() == Operation.Kind.BROADCAST && rank == operation.root()
            ? output
            : allocate(operation.input(rank, group.size()));
    plan = group.plan(collective, algorithm, input, output);
  }

  private MemorySegment allocate(long elements) {
    return elements == 0 ? MemorySegment.NULL : arena.allocate(elements * elementBytes, PAGE_BYTES);
  }

  Plan plan() {
    return plan;
  }

  /** Fills the memory for the next round; what is left of the last one in the output is gone. */
  void prepare() {
    round++;
    output.fill(STALE);
    contributions.fill(input, group.rank(), round);
  }

  /** Runs it; returns how long that took, in ns. */
  long run() {
    long before = System.nanoTime();
    plan.run();
    return System.nanoTime() - before;
  }

  /** How many elements of this rank's output are wrong. */
  long wrong() {
    int rank = group.rank();
    long count = operation.count();
    return switch (operation.kind()) {
      case ALL_REDUCE -> contributions.wrongReduced(output, 0, round);
      case REDUCE -> contributions.wrongReduced(output, 0, round);
      case REDUCE_SCATTER -> contributions.wrongReduced(output, rank * count, round);
      case BROADCAST -> contributions.wrong(output, operation.root(), 0, round);
      case SCATTER -> contributions.wrong(output, operation.root(), rank * count, round);
      case ALL_GATHER, GATHER -> wrongOfAll(0);
      case ALL_TO_ALL -> wrongOfAll(rank * count);
      case BARRIER -> 0;
    };
  }

  /** Of an output with a part of each rank, which begins at this element of what it contributed. */
  private long wrongOfAll(long first) {
    long partBytes = operation.count() * elementBytes;
    long wrong = 0;
    for (long at = 0, rank = 0; at < output.byteSize(); at += partBytes, rank++) {
      wrong += contributions.wrong(output.asSlice(at, partBytes), (int) rank, first, round);
    }
    return wrong;
  }

  @Override
  public void close() {
    plan.close();
    arena.close();
  }
}
