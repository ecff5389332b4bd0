package launch;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Arguments of the form {@code --name value}. */
public final class Options {
  private final Map<String, String> values;

  private Options(Map<String, String> values) {
    this.values = values;
  }

  /**
   * Reads them.
   *
   * @param usual all names that there are, with what they are worth if they are not given
   * @param arguments of the command line
   * @throws IllegalArgumentException if one is not of that form, or of no such name
   */
  public static Options read(Map<String, String> usual, String... arguments) {
    Map<String, String> values = new TreeMap<>(usual);
    for (int i = 0; i < arguments.length; i += 2) {
      String name = arguments[i].startsWith("--") ? arguments[i].substring(2) : "";
      if (!values.containsKey(name) || i + 1 == arguments.length) {
        throw new IllegalArgumentException(
            "%s is not understood; there are %s, each with a value after it"
                .formatted(arguments[i], String.join(", ", usual.keySet().stream().map("--"::concat).toList())));
      }
      values.put(name, arguments[i + 1]);
    }
    return new Options(values);
  }

  /** {@return the same with another value} */
  public Options with(String name, String value) {
    Map<String, String> changed = new TreeMap<>(values);
    changed.put(name, value);
    return new Options(changed);
  }

  /** {@return them as they are typed} */
  public List<String> arguments() {
    return values.entrySet().stream()
        .filter(each -> !each.getValue().isEmpty())
        .flatMap(each -> List.of("--" + each.getKey(), each.getValue()).stream())
        .toList();
  }

  public String text(String name) {
    return values.get(name);
  }

  /** {@return what stands between commas} */
  public List<String> list(String name) {
    return Arrays.stream(values.get(name).split(",")).map(String::strip).filter(each -> !each.isEmpty()).toList();
  }

  /** {@return a whole number from least to most} */
  public int number(String name, int least, int most) {
    return number(name, values.get(name), least, most);
  }

  /** {@return whole numbers between commas, each from least to most} */
  public List<Integer> numbers(String name, int least, int most) {
    return list(name).stream().map(each -> number(name, each, least, most)).toList();
  }

  private static int number(String name, String text, int least, int most) {
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException("--%s takes %d to %d, not '%s'".formatted(name, least, most, text));
  }
}
