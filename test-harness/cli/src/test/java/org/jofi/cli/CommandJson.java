package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import com.google.gson.JsonStreamParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares what commands print with {@code --json} with the page that documents it. A field that is
 * not on the page is wrong, and so is one of the page that is not there.
 */
final class CommandJson {
  static final Path PAGE =
      Path.of("").toAbsolutePath().getParent().getParent().resolve("docs/JSON.md");

  private static final Pattern HEADING = Pattern.compile("## jofi (.+) --json");
  private static final Pattern ROW = Pattern.compile("\\| `([^`]+)` \\| ([^|]+) \\| [^|]+ \\|");

  /** Fields by the words of their command. */
  private static final Map<String, Map<String, Type>> PAGES = read();

  private CommandJson() {}

  /** What a field may be, and whether it may be missing. */
  private record Type(Set<String> kinds, boolean optional) {
    static Type of(String cell) {
      return new Type(
          Set.of(cell.replace(", optional", "").split(" or ")), cell.endsWith(", optional"));
    }
  }

  private static Map<String, Map<String, Type>> read() {
    Map<String, Map<String, Type>> pages = new LinkedHashMap<>();
    Map<String, Type> fields = new LinkedHashMap<>();
    try {
      for (String line : Files.readAllLines(PAGE)) {
        Matcher heading = HEADING.matcher(line);
        Matcher row = ROW.matcher(line);
        if (heading.matches()) {
          fields = new LinkedHashMap<>();
          pages.put(heading.group(1), fields);
        } else if (row.matches()) {
          fields.put(row.group(1), Type.of(row.group(2)));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return pages;
  }

  /** The commands that the page has. */
  static Set<String> commands() {
    return PAGES.keySet();
  }

  /**
   * Checks what a command printed, if that is JSON.
   *
   * @param words of the command line
   */
  static void check(List<String> words, String printed) {
    if (!words.contains("--json") || !printed.stripLeading().matches("(?s)[\\[{].*[\\]}]\\s*")) {
      return;
    }
    String command = words.getFirst();
    for (String variant : List.of("--devices", "--list")) {
      command += words.contains(variant) ? " " + variant : "";
    }
    List<String> wrong = new ArrayList<>();
    JsonStreamParser documents = new JsonStreamParser(printed);
    while (documents.hasNext()) {
      wrong.addAll(differences(command, documents.next()));
    }
    assertTrue(
        wrong.isEmpty(),
        () -> "docs/JSON.md does not say what " + words + " printed: " + wrong + "\n" + printed);
  }

  /** What of a document is not as the page says. */
  static List<String> differences(String command, JsonElement document) {
    Map<String, Type> fields = PAGES.get(command);
    if (fields == null) {
      return List.of("no section for jofi " + command + " --json");
    }
    List<String> wrong = new ArrayList<>();
    look("", document, fields, wrong);
    return wrong;
  }

  static List<String> differences(String command, String document) {
    return differences(command, JsonParser.parseString(document));
  }

  private static void look(
      String path, JsonElement element, Map<String, Type> fields, List<String> wrong) {
    Type type = fields.get(path);
    boolean isBelow = fields.keySet().stream().anyMatch(each -> isPart(path, each));
    if (type != null && !type.kinds.contains(kind(element))) {
      wrong.add("%s is %s, not %s".formatted(path, kind(element), type.kinds));
    } else if (type == null && !isBelow) {
      wrong.add(path + " is not there");
    }
    if (element.isJsonArray()) {
      element.getAsJsonArray().forEach(each -> look(path + "[]", each, fields, wrong));
    } else if (element.isJsonObject()) {
      Map<String, JsonElement> members = element.getAsJsonObject().asMap();
      boolean varies = fields.containsKey(below(path, "*"));
      members.forEach((name, each) -> look(below(path, varies ? "*" : name), each, fields, wrong));
      Set<String> missing = new TreeSet<>();
      fields.forEach(
          (field, of) -> {
            String prefix = below(path, "");
            if (!of.optional
                && field.startsWith(prefix)
                && field.substring(prefix.length()).matches("[^.\\[*]+")
                && !members.containsKey(field.substring(prefix.length()))) {
              missing.add(field);
            }
          });
      missing.forEach(each -> wrong.add(each + " is on the page, and not printed"));
    }
  }

  private static boolean isPart(String path, String field) {
    return path.isEmpty() || field.startsWith(path + ".") || field.startsWith(path + "[");
  }

  private static String below(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  private static String kind(JsonElement element) {
    if (element.isJsonNull()) {
      return "null";
    }
    if (element.isJsonArray()) {
      return "array";
    }
    if (element.isJsonObject()) {
      return "object";
    }
    return element.getAsJsonPrimitive().isBoolean()
        ? "boolean"
        : element.getAsJsonPrimitive().isNumber() ? "number" : "string";
  }
}
