package org.jofi.doctor.machine;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Version of a Linux kernel.
 *
 * @param major such as 6
 * @param minor such as 1
 */
public record KernelVersion(int major, int minor) {
  /** The file that contains it. */
  public static final String FILE = "/proc/sys/kernel/osrelease";

  private static final Pattern RELEASE = Pattern.compile("([0-9]{1,4})\\.([0-9]{1,4})([^0-9].*)?");

  /** The version of a release such as {@code 5.15.0-91-generic}; empty if the text is not one. */
  static Optional<KernelVersion> of(String release) {
    Matcher matcher = RELEASE.matcher(release);
    return matcher.matches()
        ? Optional.of(
            new KernelVersion(
                Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2))))
        : Optional.empty();
  }

  /** Whether it is this version or newer. */
  public boolean atLeast(int wantedMajor, int wantedMinor) {
    return major > wantedMajor || (major == wantedMajor && minor >= wantedMinor);
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}
