package org.jofi.libfabric;

import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.UnboundRegion;

/** A region that is registered for an endpoint but not bound to it yet. */
final class RegisteredUnboundRegion implements UnboundRegion {
  private final Registration registration;
  private boolean bound;

  RegisteredUnboundRegion(Registration registration) {
    this.registration = registration;
  }

  @Override
  public synchronized BoundRegion bind(Endpoint endpoint) {
    if (bound) {
      throw new IllegalStateException(registration.place() + " is bound already");
    }
    registration.requireOpen();
    if (!(endpoint instanceof LibfabricEndpoint own) || own.domain() != registration.domain()) {
      throw new IllegalArgumentException(
          "cannot bind %s to endpoint '%s' of another domain"
              .formatted(registration.place(), endpoint.label()));
    }
    registration.bind(own);
    bound = true;
    return new RegisteredBoundRegion(registration);
  }

  @Override
  public synchronized void close() {
    if (!bound) {
      registration.close();
    }
  }
}
