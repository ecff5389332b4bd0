package org.jofi.doctor.machine;

import java.nio.charset.StandardCharsets;

/** What came of reading one file. Immutable; any thread. */
public final class Reading {
  /** How it went. */
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

  /** What was to be read, as on the machine. */
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

  /** What is wrong, with the path; empty if nothing. */
  public String trouble() {
    return trouble.isEmpty() ? "" : path + " " + trouble;
  }

  /**
   * The content without spaces around it and without control characters; empty if not read. Zeros
   * at its end are left out: archivers fill up with them what was shorter than sysfs had promised.
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

  /** The content as a number from 0 on, in decimal or with 0x in hexadecimal; -1 if it is none. */
  long number() {
    return number(text());
  }

  static long number(String text) {
    if (text.matches("0x[0-9a-fA-F]{1,15}")) {
      return Long.parseLong(text.substring(2), 16);
    }
    return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
  }

  /** Text that a terminal takes for nothing but text. */
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
