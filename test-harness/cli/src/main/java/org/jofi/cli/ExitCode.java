package org.jofi.cli;

/** What the process ends with. */
final class ExitCode {
  /** Done. */
  static final int OK = 0;

  /** It ran, and failed. */
  static final int FAILED = 1;

  /** Wrong usage. */
  static final int USAGE = 2;

  /** Something is missing on this machine. */
  static final int ENVIRONMENT = 3;

  private ExitCode() {}
}
