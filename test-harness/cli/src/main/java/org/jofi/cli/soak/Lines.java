package org.jofi.cli.soak;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import java.util.Optional;

/** Orders and reports as lines of text. */
final class Lines {
  private static final Gson GSON = new Gson();

  private Lines() {}

  static String write(Object message) {
    return GSON.toJson(message);
  }

  /** A message; empty if the line is none, such as what a JVM prints. */
  static <T> Optional<T> read(String line, Class<T> type) {
    if (!line.startsWith("{")) {
      return Optional.empty();
    }
    try {
      return Optional.ofNullable(GSON.fromJson(line, type));
    } catch (JsonParseException e) {
      return Optional.empty();
    }
  }
}
