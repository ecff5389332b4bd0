package org.jofi.cli.collectives;

import java.lang.foreign.MemorySegment;
import org.jofi.collectives.Collective;
import org.jofi.collectives.Group;
import org.jofi.collectives.Plan;
import org.jofi.collectives.schedule.Operation;

/**
 * One operation of one length, with its memory. The output is memory of its own, except if it is
 * measured in place, and at the root of a broadcast. Not closed after a failure, since NICs may use
 * the memory until the transport is closed. For one thread.
 */
final class Measurement implements AutoCloseable {
  /** No element is that. */
  private static final byte STALE = (byte) 0xE5;

  private final Group group;
  private final Operation operation;
  private final Contributions contributions;
  private final int elementBytes;
  private final MeasuredArray input;
  private final MeasuredArray output;
  private final boolean isInPlace;
  private final Plan plan;
  private int round;

  /**
   * Connects what it needs; all ranks do so.
   *
   * @param arrays allocates its memory
   * @param inPlace whether the output takes the place of the input, of the same length
   */
  Measurement(
      Group group,
      Collective collective,
      String algorithm,
      Contributions contributions,
      MeasuredArray.Allocator arrays,
      boolean inPlace) {
    this.group = group;
    this.contributions = contributions;
    operation = collective.operation();
    elementBytes = collective.type().bytes();
    int rank = group.rank();
    output = arrays.allocate(operation.output(rank, group.size()) * elementBytes);
    isInPlace =
        inPlace || (operation.kind() == Operation.Kind.BROADCAST && rank == operation.root());
    input =
        isInPlace ? output : arrays.allocate(operation.input(rank, group.size()) * elementBytes);
    plan = input.plan(group, collective, algorithm, output);
  }

  Plan plan() {
    return plan;
  }

  /** Fills the memory for the next round; what is left of the last one in the output is gone. */
  void prepare() {
    round++;
    if (!isInPlace) {
      output.image().fill(STALE);
      output.write();
    }
    contributions.fill(input.image(), group.rank(), round);
    input.write();
  }

  /** Runs it; returns how long that took, in ns. */
  long run() {
    long before = System.nanoTime();
    plan.run();
    return System.nanoTime() - before;
  }

  /** How many elements of this rank's output are wrong. */
  long wrong() {
    output.read();
    MemorySegment result = output.image();
    int rank = group.rank();
    long count = operation.count();
    return switch (operation.kind()) {
      case ALL_REDUCE -> contributions.wrongReduced(result, 0, round);
      case REDUCE -> contributions.wrongReduced(result, 0, round);
      case REDUCE_SCATTER -> contributions.wrongReduced(result, rank * count, round);
      case BROADCAST -> contributions.wrong(result, operation.root(), 0, round);
      case SCATTER -> contributions.wrong(result, operation.root(), rank * count, round);
      case ALL_GATHER, GATHER -> wrongOfAll(result, 0);
      case ALL_TO_ALL -> wrongOfAll(result, rank * count);
      case BARRIER -> 0;
    };
  }

  /** Of an output with a part of each rank, which begins at this element of what it contributed. */
  private long wrongOfAll(MemorySegment result, long first) {
    long partBytes = operation.count() * elementBytes;
    long wrong = 0;
    for (long at = 0, rank = 0; at < result.byteSize(); at += partBytes, rank++) {
      wrong += contributions.wrong(result.asSlice(at, partBytes), (int) rank, first, round);
    }
    return wrong;
  }

  @Override
  public void close() {
    plan.close();
    if (!isInPlace) {
      input.close();
    }
    output.close();
  }
}
