package org.jofi.conformance;

import org.jspecify.annotations.Nullable;

/**
 * Versions of a library that follow each other.
 *
 * @param library such as {@code libfabric}
 * @param from the first one
 * @param until the first one that is not of them; null if there is none
 */
public record VersionRange(String library, Version from, @Nullable Version until) {

  public VersionRange {
    if (until != null && until.compareTo(from) <= 0) {
      throw new IllegalArgumentException("nothing is from " + from + " and before " + until);
    }
  }

  /** One version, with all its patches. */
  static VersionRange only(String library, String version) {
    Version one = Version.of(version);
    return new VersionRange(library, one, one.nextMinor());
  }

  /** From a version, that one included, until another one, that one excluded. */
  static VersionRange between(String library, String from, String until) {
    return new VersionRange(library, Version.of(from), Version.of(until));
  }

  /** A version and all later ones. */
  static VersionRange from(String library, String from) {
    return new VersionRange(library, Version.of(from), null);
  }

  /** Whether a library is one of them, by its name and version, such as {@code libfabric 1.17}. */
  public boolean covers(String source) {
    return Version.of(library, source)
        .filter(version -> version.compareTo(from) >= 0)
        .filter(version -> until == null || version.compareTo(until) < 0)
        .isPresent();
  }

  @Override
  public String toString() {
    if (until == null) {
      return "%s %s and later".formatted(library, from);
    }
    return until.equals(from.nextMinor())
        ? library + " " + from
        : "%s from %s to before %s".formatted(library, from, until);
  }
}
