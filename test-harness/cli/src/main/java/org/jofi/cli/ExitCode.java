package org.jofi.cli;

/** The exit codes of the process. */
final class ExitCode {
  /** The command succeeded. */
  static final int OK = 0;

  /** The command ran and failed. */
  static final int FAILED = 1;

  /** Wrong usage. */
  static final int USAGE = 2;

  /** Something is missing on this machine. */
  static final int ENVIRONMENT = 3;

  private ExitCode() {}
}
