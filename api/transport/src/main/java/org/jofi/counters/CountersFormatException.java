package org.jofi.counters;

import java.io.IOException;

/** A file is none of counters, not complete yet, or of a later version of jofi. */
public final class CountersFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * Says what it is.
   *
   * @param message with the file's path
   */
  public CountersFormatException(String message) {
    super(message);
  }
}
