package org.jofi.simulated.stall;

/** A simulation makes no progress. The message lists everything that is pending. */
public final class SimulationStalledException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The message says what is pending. */
  public SimulationStalledException(String message) {
    super(message);
  }

  /** The same, if a participant threw. */
  public SimulationStalledException(String message, Throwable cause) {
    super(message, cause);
  }
}
