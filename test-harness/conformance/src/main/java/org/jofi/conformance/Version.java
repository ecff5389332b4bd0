package org.jofi.conformance;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of a library. What it does not tell is 0: 1.17 is 1.17.0.
 *
 * @param major the first number
 * @param minor the second
 * @param patch the third
 */
public record Version(int major, int minor, int patch) implements Comparable<Version> {
  private static final Pattern SOURCE =
      Pattern.compile("(?<library>.+) (?<version>\\d{1,6}\\.\\d{1,6}(\\.\\d{1,6})?)");

  private static final Comparator<Version> ORDER =
      Comparator.comparingInt(Version::major)
          .thenComparingInt(Version::minor)
          .thenComparingInt(Version::patch);

  /**
   * The version of that text, such as {@code 1.17} or {@code 1.17.0}.
   *
   * @throws IllegalArgumentException if it is none
   */
  static Version of(String text) {
    return of("any", "any " + text)
        .orElseThrow(() -> new IllegalArgumentException("no version: " + text));
  }

  /**
   * The version in the name of a library, such as {@code libfabric 1.17.0}; empty if it is another
   * library, or no version that can be told exactly.
   */
  static Optional<Version> of(String library, String source) {
    Matcher matcher = SOURCE.matcher(source);
    if (!matcher.matches() || !matcher.group("library").equals(library)) {
      return Optional.empty();
    }
    String[] numbers = matcher.group("version").split("\\.", -1);
    return Optional.of(
        new Version(
            Integer.parseInt(numbers[0]),
            Integer.parseInt(numbers[1]),
            numbers.length > 2 ? Integer.parseInt(numbers[2]) : 0));
  }

  /** The first one that has another minor number. */
  Version nextMinor() {
    return new Version(major, minor + 1, 0);
  }

  @Override
  public int compareTo(Version other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return patch == 0 ? major + "." + minor : major + "." + minor + "." + patch;
  }
}
