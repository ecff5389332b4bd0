package org.jofi.collectives.schedule;

/**
 * How ranks carry out a collective operation: it writes the steps of one rank. All ranks write
 * theirs from the same operation and the same chunk, and so agree on every message. It has no
 * state.
 */
public interface Algorithm {
  /** {@return its name, in words that {@code --algorithm} takes, such as {@code ring}} */
  String name();

  /**
   * {@return whether it carries out this operation}
   *
   * @param operation the operation
   * @param size how many ranks there are, 2 or more
   */
  boolean fits(Operation operation, int size);

  /**
   * Writes the steps of a rank.
   *
   * @param to takes them, and says which rank it is of how many
   * @param operation the operation
   * @param chunk about how many elements a message of a long array should have, 1 or more
   */
  void write(Steps to, Operation operation, long chunk);
}
