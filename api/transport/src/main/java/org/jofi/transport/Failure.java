package org.jofi.transport;

import java.io.Serializable;
import java.util.Objects;
import org.jofi.fabric.FabricErrno;

/**
 * How a request, a communicator or a call failed.
 *
 * @param cause why
 * @param errno the fabric's error, a positive {@link FabricErrno}; 0 if no fabric call failed
 * @param where operation, device, rail, peer and region, as far as known; may be empty
 * @param detail what else is known, such as the provider's own text; may be empty
 */
public record Failure(FailureCause cause, int errno, String where, String detail)
    implements Serializable {
  /**
   * Checks that nothing is null.
   *
   * @throws IllegalArgumentException if the errno is negative
   */
  public Failure {
    Objects.requireNonNull(cause);
    Objects.requireNonNull(where);
    Objects.requireNonNull(detail);
    if (errno < 0) {
      throw new IllegalArgumentException("errno must be positive, is " + errno);
    }
  }

  /** {@return a sentence with all of this} */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(where);
    if (!where.isEmpty()) {
      text.append(": ");
    }
    text.append(cause.words());
    if (errno != 0) {
      text.append(", ")
          .append(FabricErrno.name(errno))
          .append(" (")
          .append(FabricErrno.meaning(errno))
          .append(')');
    }
    return detail.isEmpty() ? text.toString() : text.append("; ").append(detail).toString();
  }
}
