package org.jofi.collectives;

/**
 * Ranks of a group call different operations, or the same one with different lengths, types,
 * reductions or roots. The message names what this rank does and what another one does. The group
 * cannot be used any more.
 */
public final class MismatchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Ranks do not do the same.
   *
   * @param message what this rank does, and what another one does
   */
  public MismatchException(String message) {
    super(message);
  }
}
