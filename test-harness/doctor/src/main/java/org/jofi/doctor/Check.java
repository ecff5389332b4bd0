package org.jofi.doctor;

import java.util.List;

/** Checks one aspect of a machine. */
interface Check {
  /**
   * Returns what it found: at least one finding, even if there is nothing to check. Unexpected
   * content of a machine's files never makes it throw.
   */
  List<Finding> examine(Patient patient);
}
