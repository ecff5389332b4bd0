package org.jofi.mr.scope;

import java.util.Objects;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;

/**
 * A NIC and an endpoint that is open on it. Immutable; any thread. It owns neither.
 *
 * @param domain the NIC
 * @param endpoint an enabled endpoint of that NIC
 */
public record Rail(Domain domain, Endpoint endpoint) {

  /**
   * @throws IllegalArgumentException if the endpoint belongs to another domain
   */
  public Rail {
    Objects.requireNonNull(domain);
    Objects.requireNonNull(endpoint);
    if (!endpoint.domain().equals(domain)) {
      throw new IllegalArgumentException(
          "endpoint '%s' is on %s, not on %s"
              .formatted(endpoint.label(), endpoint.domain().info(), domain.info()));
    }
  }

  /** The endpoint's label and the NIC, for error messages. */
  @Override
  public String toString() {
    return "%s on %s".formatted(endpoint.label(), domain.info());
  }
}
