package org.jofi.conformance.rule;

import java.util.Arrays;
import java.util.Locale;

/** What a case is about. */
public enum Area {
  DISCOVERY("discovery"),
  REGISTRATION("registration"),
  KEYS("keys and addressing"),
  MESSAGES("send and receive"),
  RMA("RMA"),
  IMMEDIATE("immediate data"),
  ORDERING("ordering claims"),
  EAGAIN("-FI_EAGAIN"),
  CANCEL("cancel"),
  ERRORS("completion queues and errors"),
  CLOSING("close order"),
  THREADING("threading claims"),
  PROGRESS("progress claims"),
  ISOLATION("multi-rail isolation"),
  HMEM("HMEM claims");

  private final String title;

  Area(String title) {
    this.title = title;
  }

  /** What tables call it. */
  public String title() {
    return title;
  }

  /** What options and case ids call it. */
  public String slug() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The area of that name, case ignored.
   *
   * @throws IllegalArgumentException if there is none, naming those that there are
   */
  public static Area named(String name) {
    return Arrays.stream(values())
        .filter(area -> area.slug().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no area named '%s'; there are %s"
                        .formatted(
                            name,
                            String.join(", ", Arrays.stream(values()).map(Area::slug).toList()))));
  }
}
