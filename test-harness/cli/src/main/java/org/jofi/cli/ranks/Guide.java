package org.jofi.cli.ranks;

/** Parts of the page that says what to do, to which messages lead. */
public enum Guide {
  /** Ranks that do not find each other. */
  RANKS("ranks-do-not-find-each-other"),
  /** Ranks that found each other, and cannot be connected. */
  CONNECTIONS("they-find-each-other-and-do-not-connect"),
  /** No NIC, or not enough memory. */
  ROOM("no-nic-or-no-room");

  /** The page, in the project's folder. */
  static final String PAGE = "docs/TROUBLESHOOTING.md";

  private final String heading;

  Guide(String heading) {
    this.heading = heading;
  }

  /** The heading, as links have it. */
  String heading() {
    return heading;
  }

  /**
   * A message, with where there is more of its kind.
   *
   * @param message what happened, and what to do
   * @return it, and a line that names the part of the page
   */
  public String after(String message) {
    return "%s%nMore: %s#%s".formatted(message, PAGE, heading);
  }
}
