package org.jofi.cli.soak;

import java.util.Locale;

/** What ranks do in a round. */
enum RoundKind {
  /** An array is summed over all ranks. */
  ALL_REDUCE,
  /** Messages go to the next rank. */
  MESSAGES,
  /** The next rank's memory is written and read. */
  ONE_SIDED,
  /** Memory is registered, released, forgotten and freed. */
  REGISTRATIONS,
  /** More communicators are connected, used, and closed or aborted. */
  COMMUNICATORS;

  /** Its name in reports. */
  String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
