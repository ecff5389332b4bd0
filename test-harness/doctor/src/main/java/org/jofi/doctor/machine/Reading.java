package org.jofi.doctor.machine;

import java.nio.charset.StandardCharsets;

/** The result of reading one file. Immutable; any thread. */
public final class Reading {
  /** Whether it succeeded. */
  public enum State {
    READ,
    ABSENT,
    UNREADABLE
  }

  private final String path;
  private final State state;
  private final byte[] bytes;
  private final String trouble;

  private Reading(String path, State state, byte[] bytes, String trouble) {
    this.path = printable(path);
    this.state = state;
    this.bytes = bytes;
    this.trouble = trouble;
  }

  static Reading of(String path, byte[] bytes) {
    return new Reading(path, State.READ, bytes.clone(), "");
  }

  static Reading absent(String path) {
    return new Reading(path, State.ABSENT, new byte[0], "is not there");
  }

  static Reading unreadable(String path, String trouble) {
    return new Reading(path, State.UNREADABLE, new byte[0], trouble);
  }

  /** The path of the file on the machine. */
  public String path() {
    return path;
  }

  public State state() {
    return state;
  }

  /** Whether it could be read. */
  public boolean ok() {
    return state == State.READ;
  }

  /** What is wrong, with the path; empty if nothing is. */
  public String trouble() {
    return trouble.isEmpty() ? "" : path + " " + trouble;
  }

  /**
   * The content without surrounding spaces and control characters; empty if not read. Zeros at the
   * end are left out, since archivers pad files that are shorter than the size that sysfs reports.
   */
  public String text() {
    int length = bytes.length;
    while (length > 0 && bytes[length - 1] == 0) {
      length--;
    }
    return printable(new String(bytes, 0, length, StandardCharsets.UTF_8)).strip();
  }

  /** The content; empty if not read. */
  byte[] bytes() {
    return bytes.clone();
  }

  /**
   * The content as a number of 0 or more, in decimal or with 0x in hexadecimal; -1 if it is not a
   * number.
   */
  long number() {
    return number(text());
  }

  static long number(String text) {
    if (text.matches("0x[0-9a-fA-F]{1,15}")) {
      return Long.parseLong(text.substring(2), 16);
    }
    return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
  }

  /** The text without characters that control a terminal. */
  static String printable(String text) {
    StringBuilder clean = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            point ->
                clean.appendCodePoint(
                    point == '\n' || point == '\t' || !hidden(Character.getType(point))
                        ? point
                        : '?'));
    return clean.toString();
  }

  private static boolean hidden(int type) {
    return type == Character.CONTROL
        || type == Character.FORMAT
        || type == Character.SURROGATE
        || type == Character.PRIVATE_USE
        || type == Character.UNASSIGNED
        || type == Character.LINE_SEPARATOR
        || type == Character.PARAGRAPH_SEPARATOR;
  }
}
