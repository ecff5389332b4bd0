package org.jofi.collectives;

import java.util.Objects;
import org.jofi.collectives.schedule.Operation;
import org.jspecify.annotations.Nullable;

/**
 * What all ranks of a group do together. Each rank passes the same, but for the lengths of an
 * all-to-all by counts. Lengths are in elements. Immutable; any thread.
 *
 * <pre>
 *                  input                        output
 * all-reduce       count                        count
 * reduce-scatter   ranks × count                count
 * all-gather       count                        ranks × count
 * broadcast        count at the root            count
 * reduce           count                        count at the root
 * gather           count                        ranks × count at the root
 * scatter          ranks × count at the root    count
 * all-to-all       ranks × count                ranks × count
 * </pre>
 *
 * <p>Input and output may be the same memory: of an all-reduce, a reduce, a broadcast and an
 * all-to-all all of it (by counts none), of the others where a rank's own part lies in the longer
 * one.
 */
public final class Collective {
  private static final Collective BARRIER =
      new Collective(Operation.of(Operation.Kind.BARRIER, 0), DataType.BYTE, null);

  private final Operation operation;
  private final DataType type;
  private final @Nullable Reduction reduction;

  private Collective(Operation operation, DataType type, @Nullable Reduction reduction) {
    this.operation = operation;
    this.type = Objects.requireNonNull(type);
    this.reduction = reduction;
    if (reduction != null && reduction.combiner() == null && type == DataType.BYTE) {
      throw new IllegalArgumentException(
          "bytes have no %s: name their type, or use a reduction of your own".formatted(reduction));
    }
  }

  /**
   * {@return an all-reduce: every rank gets the reduction of the arrays of all}
   *
   * @param type of the elements
   * @param reduction how they are reduced
   * @param count elements of each rank's array
   */
  public static Collective allReduce(DataType type, Reduction reduction, long count) {
    return reducing(Operation.of(Operation.Kind.ALL_REDUCE, count), type, reduction);
  }

  /**
   * {@return a reduce-scatter: every rank gets its part of the reduction of the arrays of all}
   *
   * @param type of the elements
   * @param reduction how they are reduced
   * @param count elements of each rank's part
   */
  public static Collective reduceScatter(DataType type, Reduction reduction, long count) {
    return reducing(Operation.of(Operation.Kind.REDUCE_SCATTER, count), type, reduction);
  }

  /**
   * {@return a reduce: the root gets the reduction of the arrays of all}
   *
   * @param type of the elements
   * @param reduction how they are reduced
   * @param count elements of each rank's array
   * @param root the rank that gets it
   */
  public static Collective reduce(DataType type, Reduction reduction, long count, int root) {
    return reducing(Operation.of(Operation.Kind.REDUCE, count, root), type, reduction);
  }

  private static Collective reducing(Operation operation, DataType type, Reduction reduction) {
    return new Collective(operation, type, Objects.requireNonNull(reduction));
  }

  /**
   * {@return an all-gather: every rank gets the arrays of all}
   *
   * @param type of the elements
   * @param count elements of each rank's array
   */
  public static Collective allGather(DataType type, long count) {
    return new Collective(Operation.of(Operation.Kind.ALL_GATHER, count), type, null);
  }

  /**
   * {@return a broadcast: every rank gets the root's array}
   *
   * @param type of the elements
   * @param count elements of the array
   * @param root the rank whose array it is
   */
  public static Collective broadcast(DataType type, long count, int root) {
    return new Collective(Operation.of(Operation.Kind.BROADCAST, count, root), type, null);
  }

  /**
   * {@return a gather: the root gets the arrays of all}
   *
   * @param type of the elements
   * @param count elements of each rank's array
   * @param root the rank that gets them
   */
  public static Collective gather(DataType type, long count, int root) {
    return new Collective(Operation.of(Operation.Kind.GATHER, count, root), type, null);
  }

  /**
   * {@return a scatter: every rank gets its part of the root's array}
   *
   * @param type of the elements
   * @param count elements of each rank's part
   * @param root the rank whose array it is
   */
  public static Collective scatter(DataType type, long count, int root) {
    return new Collective(Operation.of(Operation.Kind.SCATTER, count, root), type, null);
  }

  /**
   * {@return an all-to-all: every rank sends a part of its array to each}
   *
   * @param type of the elements
   * @param count elements of each part
   */
  public static Collective allToAll(DataType type, long count) {
    return new Collective(Operation.of(Operation.Kind.ALL_TO_ALL, count), type, null);
  }

  /**
   * {@return an all-to-all in which each pair of ranks has a length of its own}
   *
   * @param type of the elements
   * @param sent how many this rank sends to each, itself included; its input holds them in order
   * @param received how many it receives from each, as these send them; its output holds them in
   *     order
   */
  public static Collective allToAll(DataType type, long[] sent, long[] received) {
    return new Collective(Operation.allToAll(sent, received), type, null);
  }

  /** {@return a barrier: no rank goes on before all have come} */
  public static Collective barrier() {
    return BARRIER;
  }

  /** {@return who sends what to whom} */
  public Operation operation() {
    return operation;
  }

  /** {@return the type of the elements} */
  public DataType type() {
    return type;
  }

  /** {@return how elements are reduced; null if they are only moved} */
  public @Nullable Reduction reduction() {
    return reduction;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Collective that
        && operation.equals(that.operation)
        && type == that.type
        && Objects.equals(reduction, that.reduction);
  }

  @Override
  public int hashCode() {
    return 31 * operation.hashCode() + type.hashCode();
  }

  /** {@return it in words, alike on all ranks, such as {@code all-reduce of 8 F32, sum}} */
  @Override
  public String toString() {
    if (operation.kind() == Operation.Kind.BARRIER) {
      return operation.toString();
    }
    return operation + " " + type + (reduction == null ? "" : ", " + reduction);
  }
}
