package org.jofi.cli;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for a range of lengths, named as in other benchmarks of collectives. */
final class SizeRange {
  @Option(
      names = {"-b", "--minbytes"},
      paramLabel = "SIZE",
      description = "The first length.")
  private @Nullable String first;

  @Option(
      names = {"-e", "--maxbytes"},
      paramLabel = "SIZE",
      description = "The last length.")
  private @Nullable String last;

  @Option(
      names = {"-f", "--factor"},
      paramLabel = "F",
      description = "Each length is this many times the one before.")
  private @Nullable Integer factor;

  /**
   * The lengths that the user asked for.
   *
   * @param list a list of lengths instead of the range, or null
   * @throws IllegalArgumentException if both are given, or a value is not a size
   */
  List<Long> sizes(@Nullable String list, String usualFirst, String usualLast, int usualFactor) {
    if (list == null) {
      return ByteSizes.range(
          Objects.requireNonNullElse(first, usualFirst),
          Objects.requireNonNullElse(last, usualLast),
          Objects.requireNonNullElse(factor, usualFactor));
    }
    if (first != null || last != null || factor != null) {
      throw new IllegalArgumentException(
          "sizes are given twice: as the list %s, and as a range".formatted(list));
    }
    return ByteSizes.list(list);
  }
}
