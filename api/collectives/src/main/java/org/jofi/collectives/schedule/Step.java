package org.jofi.collectives.schedule;

import org.jspecify.annotations.Nullable;

/**
 * One step of a rank.
 *
 * @param kind what is done
 * @param peer with whom, for messages; -1 otherwise
 * @param count how many elements, 1 or more
 * @param first what is sent, copied, combined or finished; null for a receive
 * @param firstOffset its first element
 * @param second what is combined with it; null otherwise
 * @param secondOffset its first element
 * @param into where the result goes; null for a send
 * @param intoOffset its first element
 */
public record Step(
    Kind kind,
    int peer,
    long count,
    @Nullable Place first,
    long firstOffset,
    @Nullable Place second,
    long secondOffset,
    @Nullable Place into,
    long intoOffset) {

  /** What a step does. */
  public enum Kind {
    /** Sends elements to the peer. */
    SEND,
    /** Receives elements from the peer. */
    RECEIVE,
    /** Combines two ranges. */
    COMBINE,
    /** Copies a range. */
    COPY,
    /** Ends a reduction, in place. */
    FINISH
  }

  /** {@return whether it needs no other rank} */
  public boolean isLocal() {
    return peer < 0;
  }
}
