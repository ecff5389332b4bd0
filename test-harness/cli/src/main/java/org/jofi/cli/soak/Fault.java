package org.jofi.cli.soak;

import java.util.Locale;

/**
 * A fault.
 *
 * @param kind what goes wrong
 * @param rank where
 * @param rail of which rail; -1 if it is none of a rail
 * @param millis for how long; 0 for a kill
 * @param amount the percentage that is lost, or the part of its rate that a slow rail has: 10 is a
 *     tenth; else 0
 */
public record Fault(FaultKind kind, int rank, int rail, int millis, int amount) {

  @Override
  public String toString() {
    double seconds = millis / 1e3;
    return switch (kind) {
      case CUT -> format("cut of rail %d at rank %d for %.1f s", rail, rank, seconds);
      case BLACKHOLE ->
          format("blackhole of rail %d for what rank %d sends, %.1f s", rail, rank, seconds);
      case LOSS ->
          format(
              "loss of %d %% of what rank %d sends over rail %d, %.1f s",
              amount, rank, rail, seconds);
      case SLOW ->
          format(
              "slow rail %d for what rank %d sends, 1/%d for %.1f s", rail, rank, amount, seconds);
      case STOP -> format("stop of rank %d for %.1f s", rank, seconds);
      case KILL -> "kill of rank " + rank;
    };
  }

  @SuppressWarnings("AnnotateFormatMethod") // The annotation would be a dependency of its own.
  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
