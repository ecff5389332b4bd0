package org.jofi.transport;

import java.util.Optional;

/**
 * A rail to a peer came to be used, or not to be used any more.
 *
 * @param where what errors call it: endpoint, rail, and peer as the endpoint numbers them
 * @param role what it carries
 * @param rail 0 or more
 * @param nic the NIC, as in {@link DeviceProperties.Rail#nic}
 * @param state what it is now
 * @param cause why it is not used; empty if it is
 * @param railsUp how many rails of that role to that peer are used now
 * @param rails how many there are
 */
public record RailChange(
    String where,
    Role role,
    int rail,
    String nic,
    RailStatus.State state,
    Optional<Failure> cause,
    int railsUp,
    int rails) {

  /** What a rail carries. */
  public enum Role {
    /** Long messages and one-sided operations. */
    DATA,
    /** Short messages, and those of the protocol. */
    CONTROL
  }

  /** A line for people: where, what, why, and how many are left. */
  @Override
  public String toString() {
    return "%s (%s): %s%s; %d of %d %s rails are up"
        .formatted(
            where,
            nic,
            switch (state) {
              case UP -> "is used again";
              case REOPENING -> "is not used until the peer knows its new endpoint";
              case LOST -> "is lost, and tried again from time to time";
              case CLOSED -> "is closed for good";
            },
            cause.map(why -> ": " + why.detail()).orElse(""),
            railsUp,
            rails,
            role == Role.DATA ? "data" : "control");
  }
}
