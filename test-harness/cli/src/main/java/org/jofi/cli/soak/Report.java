package org.jofi.cli.soak;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a rank tells its parent, as a line of JSON.
 *
 * @param kind what happened
 * @param generation in which generation
 * @param round in which round
 * @param text what it is about: the kind of a round, how something failed, the device
 * @param number the server's port, or bytes that were checked, or milliseconds
 * @param railsDown rails that are not used, with the reason
 * @param vitals of the process, at the end of a generation
 */
record Report(
    Kind kind,
    int generation,
    int round,
    String text,
    long number,
    Map<Integer, String> railsDown,
    @Nullable Vitals vitals) {

  /** What happened. */
  enum Kind {
    /** The transport is open. */
    READY,
    /** Something is missing on this machine. */
    UNAVAILABLE,
    /** The generation's bootstrap server listens. */
    SERVING,
    /** All ranks met. */
    JOINED,
    /** All connections of the ring are made. */
    CONNECTED,
    /** A round begins. */
    ROUND,
    /** A round is over, and all that was checked was right. */
    CHECKED,
    /** The generation is over, and everything of it is closed. */
    DONE,
    /** Another rank is lost, as the bootstrap server says. */
    LOST,
    /** The transport failed, or nothing happened for too long. */
    FAILED,
    /** What arrived is wrong, or something happened that nothing excuses. */
    WRONG,
    /** After an order to abort: everything of the generation is closed. */
    ABORTED,
    /** The process is gone; its parent says so itself. */
    EXITED
  }

  static Report of(Kind kind, int generation, int round, String text, long number) {
    return new Report(kind, generation, round, text, number, Map.of(), null);
  }
}
