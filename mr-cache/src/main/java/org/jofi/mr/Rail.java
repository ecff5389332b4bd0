package org.jofi.mr;

import java.util.Objects;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;

/**
 * One way out of this process: a NIC and the endpoint opened on it. Immutable; any thread. Owns
 * neither.
 *
 * @param domain the NIC
 * @param endpoint an enabled endpoint of that NIC
 */
public record Rail(Domain domain, Endpoint endpoint) {

  /**
   * @throws IllegalArgumentException if the endpoint is of another domain
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

  /** The endpoint's label and the NIC, as errors name them. */
  @Override
  public String toString() {
    return "%s on %s".formatted(endpoint.label(), domain.info());
  }
}
