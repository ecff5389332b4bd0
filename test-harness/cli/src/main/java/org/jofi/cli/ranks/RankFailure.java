package org.jofi.cli.ranks;

/** This rank cannot go on. The message says what it was doing, and why that failed. */
public final class RankFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public RankFailure(String message) {
    super(message);
  }
}
