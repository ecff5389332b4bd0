package org.jofi.runner;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Properties of a module as Maven would see them, with what they refer to filled in. */
final class Settings {
  private static final Pattern REFERENCE = Pattern.compile("[$@]\\{([^}]+)}");

  private final Map<String, String> values;

  private Settings(Map<String, String> values) {
    this.values = values;
  }

  /**
   * Settings of a module.
   *
   * @param root the project's pom
   * @param module the module's pom
   * @param full whether the profile of the full run counts
   * @param given what the command line gives, which comes first
   */
  static Settings of(Pom root, Pom module, boolean full, Map<String, String> given) {
    Map<String, String> values = new HashMap<>(root.properties());
    if (full) {
      values.putAll(root.profile("all"));
    }
    values.putAll(module.properties());
    values.putAll(given);
    return new Settings(values);
  }

  /** These with some in the place of others. */
  Settings with(Map<String, String> others) {
    Map<String, String> all = new HashMap<>(values);
    all.putAll(others);
    return new Settings(all);
  }

  /** A property, or the empty text. */
  String get(String name) {
    return fill(values.getOrDefault(name, ""));
  }

  boolean is(String name) {
    return Boolean.parseBoolean(get(name));
  }

  /** A text with every property that it refers to in its place; what is not known is left out. */
  String fill(String text) {
    return REFERENCE
        .matcher(text)
        .replaceAll(reference -> Matcher.quoteReplacement(get(reference.group(1))));
  }

  /** Lines of the form {@code NAME = VALUE}. */
  Map<String, String> lines(String text) {
    Map<String, String> lines = new LinkedHashMap<>();
    fill(text)
        .lines()
        .map(line -> line.split("=", 2))
        .filter(parts -> parts.length == 2)
        .forEach(parts -> lines.put(parts[0].strip(), parts[1].strip()));
    return lines;
  }
}
