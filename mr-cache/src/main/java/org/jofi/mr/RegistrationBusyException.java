package org.jofi.mr;

import java.util.List;

/**
 * Registrations cannot be closed while requests use them. Nothing was changed; try again when the
 * requests, which the message names, have completed.
 */
public final class RegistrationBusyException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String[] inFlight;

  RegistrationBusyException(String what, List<String> inFlight) {
    super("%s while in flight: %s".formatted(what, String.join("; ", inFlight)));
    this.inFlight = inFlight.toArray(String[]::new);
  }

  /** Per registration in use, what it is and the requests that use it. */
  public List<String> inFlight() {
    return List.of(inFlight);
  }
}
