package org.jofi.conformance.bench;

/**
 * Two sides that know each other, with a connection between them where the provider makes one.
 *
 * @param left the one that initiates, as a rule
 * @param right the other
 * @param toRight the right side's number on the left
 * @param toLeft the left side's number on the right
 */
public record Pair(Peer left, Peer right, long toRight, long toLeft) {
  /** The other way round. */
  public Pair turned() {
    return new Pair(
        /* left= */ right, /* right= */ left, /* toRight= */ toLeft, /* toLeft= */ toRight);
  }
}
