package org.jofi.doctor;

import java.util.List;

/** Looks at one thing. */
interface Check {
  /**
   * What it found: a finding at least, even where there is nothing to look at. It throws nothing
   * for what a machine's files say.
   */
  List<Finding> examine(Patient patient);
}
