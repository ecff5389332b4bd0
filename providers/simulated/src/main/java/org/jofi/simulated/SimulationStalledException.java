package org.jofi.simulated;

/** A simulation makes no progress. The message lists everything that is pending. */
public final class SimulationStalledException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  SimulationStalledException(String message) {
    super(message);
  }

  SimulationStalledException(String message, Throwable cause) {
    super(message, cause);
  }
}
