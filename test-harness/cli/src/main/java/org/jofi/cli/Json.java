package org.jofi.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;

/** Formats the output of {@code --json}. Fields that are null are included. */
final class Json {
  private static final Gson LINE =
      new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
  private static final Gson PRETTY = LINE.newBuilder().setPrettyPrinting().create();

  private Json() {}

  /** A document on one line. */
  static String line(Object document) {
    return LINE.toJson(document);
  }

  /** A document that people can read, too. */
  static String pretty(Object document) {
    return PRETTY.toJson(document);
  }
}
