package org.jofi.mr.registration;

import java.util.List;

/**
 * Registrations cannot be closed because requests use them. Nothing was changed. The message names
 * the requests; try again when they have completed.
 */
public final class RegistrationBusyException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String[] inFlight;

  /** The message says what was refused. */
  public RegistrationBusyException(String what, List<String> inFlight) {
    super("%s while in flight: %s".formatted(what, String.join("; ", inFlight)));
    this.inFlight = inFlight.toArray(String[]::new);
  }

  /** One text per registration in use, with its range and the requests that use it. */
  public List<String> inFlight() {
    return List.of(inFlight);
  }
}
