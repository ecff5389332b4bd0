package org.jofi.cli.soak;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** What goes wrong. */
public enum FaultKind {
  /** The link of a rail is down at one rank, and up again. */
  CUT(true, 3),
  /** All that a rank sends over a rail is lost, and nobody is told; what it receives is not. */
  BLACKHOLE(true, 3),
  /** Some of what a rank sends over a rail is lost. */
  LOSS(true, 3),
  /** A rank sends slowly over a rail. */
  SLOW(true, 3),
  /** A rank's process is stopped, and goes on. */
  STOP(false, 2),
  /** A rank's process is killed, and started again. */
  KILL(false, 1);

  private static final String NONE = "none";
  private static final String ALL = "all";

  private final boolean ofRail;
  private final int weight;

  FaultKind(boolean ofRail, int weight) {
    this.ofRail = ofRail;
    this.weight = weight;
  }

  /** Whether it is a fault of a rail, rather than of a rank. */
  public boolean isOfRail() {
    return ofRail;
  }

  /** How often it is chosen, compared with others. A kill ends a generation, so it is rare. */
  int weight() {
    return weight;
  }

  /** Its name on the command line. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Reads a list such as {@code cut,kill}, {@code all} or {@code none}.
   *
   * @throws IllegalArgumentException if it names no fault, or another word beside all or none
   */
  public static Set<FaultKind> parse(String list) {
    String text = list.strip().toLowerCase(Locale.ROOT);
    if (text.equals(ALL)) {
      return EnumSet.allOf(FaultKind.class);
    }
    Set<FaultKind> kinds = EnumSet.noneOf(FaultKind.class);
    if (!text.equals(NONE)) {
      for (String word : text.split(",", -1)) {
        kinds.add(named(word.strip()));
      }
    }
    return kinds;
  }

  private static FaultKind named(String word) {
    return Arrays.stream(values())
        .filter(kind -> kind.text().equals(word))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "--faults: there is no fault '%s'; a list has %s, with commas between, or is all or none"
                        .formatted(word, texts(EnumSet.allOf(FaultKind.class)))));
  }

  /** Their names, with commas between. */
  public static String texts(Set<FaultKind> kinds) {
    return kinds.isEmpty()
        ? NONE
        : kinds.stream().map(FaultKind::text).collect(Collectors.joining(","));
  }
}
