package org.jofi.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;

/** What the commands print with {@code --json}: no field is left out for being null. */
final class Json {
  private static final Gson LINE =
      new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
  private static final Gson PRETTY = LINE.newBuilder().setPrettyPrinting().create();

  private Json() {}

  /** A document on one line. */
  static String line(Object document) {
    return LINE.toJson(document);
  }

  /** A document for people too. */
  static String pretty(Object document) {
    return PRETTY.toJson(document);
  }
}
