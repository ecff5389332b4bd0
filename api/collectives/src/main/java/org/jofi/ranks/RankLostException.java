package org.jofi.ranks;

/**
 * A rank ended or failed, or the process that serves the ranks is gone; the message names it and
 * says what to do.
 */
public final class RankLostException extends RanksException {
  private static final long serialVersionUID = 1L;

  private final int rank;

  /**
   * A rank is lost.
   *
   * @param rank its number; -1 if it is not known which one, as when the server is gone
   * @param message says which rank and why
   */
  public RankLostException(int rank, String message) {
    super(message);
    this.rank = rank;
  }

  /**
   * A rank is lost.
   *
   * @param rank its number; -1 if it is not known which one, as when the server is gone
   * @param message says which rank and why
   * @param cause what was met
   */
  public RankLostException(int rank, String message, Throwable cause) {
    super(message, cause);
    this.rank = rank;
  }

  /** {@return the number of the lost rank; -1 if it is not known which one} */
  public int rank() {
    return rank;
  }
}
