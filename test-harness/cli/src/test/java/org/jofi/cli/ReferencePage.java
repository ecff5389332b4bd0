package org.jofi.cli;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.SettingDescriptor;
import jdk.jfr.ValueDescriptor;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.Log;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Makes docs/REFERENCE.md of the code: commands, exit codes, events and loggers. */
final class ReferencePage {
  /** What of JFR each event has, and people do not ask for. */
  private static final List<String> OF_EVERY_EVENT =
      List.of("startTime", "duration", "eventThread", "stackTrace");

  private static final String HEAD =
      """
      # Reference

      Made of the code; a test compares (`ReferencePageTest`), and says how to write this page again. Besides it there are
      [the environment variables](VARIABLES.md) and [the JSON documents of the commands](JSON.md).

      """;

  private final StringBuilder text = new StringBuilder(HEAD);

  private ReferencePage() {}

  /**
   * Writes the page.
   *
   * @param arguments the file
   */
  public static void main(String[] arguments) throws IOException {
    Files.writeString(Path.of(arguments[0]), make());
  }

  static String make() throws IOException {
    ReferencePage page = new ReferencePage();
    CommandLine jofi = Jofi.commandLine();
    page.line("## Commands\n");
    page.line(
        "`./jofi` builds what has changed, and runs one of these. `./jofi --help` lists them, too.\n");
    jofi.getSubcommands().values().stream()
        .map(CommandLine::getCommandSpec)
        .sorted(Comparator.comparing(CommandSpec::name))
        .forEach(page::command);
    page.line("## Exit codes\n");
    page.line("| code | what it says |\n|---|---|");
    Map<String, String> codes = jofi.getCommandSpec().usageMessage().exitCodeList();
    codes.forEach((code, words) -> page.line("| %s | %s |".formatted(code, words)));
    page.events();
    page.loggers();
    return page.text.toString();
  }

  private void line(String words) {
    text.append(words).append('\n');
  }

  private void command(CommandSpec spec) {
    line("### jofi %s\n".formatted(spec.name()));
    line(String.join(" ", spec.usageMessage().description()).replaceAll("%n", " ").strip() + "\n");
    List<OptionSpec> options =
        spec.options().stream()
            .filter(option -> !option.hidden() && !option.usageHelp() && !option.versionHelp())
            .sorted(Comparator.comparing(OptionSpec::longestName))
            .toList();
    List<PositionalParamSpec> parameters =
        spec.positionalParameters().stream().filter(each -> !each.hidden()).toList();
    if (options.isEmpty() && parameters.isEmpty()) {
      return;
    }
    line("| option | default | what it does |\n|---|---|---|");
    for (PositionalParamSpec each : parameters) {
      line(
          "| `%s` | %s | %s |"
              .formatted(each.paramLabel(), byDefault(each), words(spec, each.description())));
    }
    for (OptionSpec option : options) {
      String label = option.arity().max() > 0 ? " " + option.paramLabel() : "";
      line(
          "| `%s%s` | %s | %s |"
              .formatted(
                  String.join("`, `", option.names()),
                  label.replace("|", "\\|"),
                  byDefault(option),
                  words(spec, option.description())));
    }
    line("");
  }

  private static String byDefault(CommandLine.Model.ArgSpec argument) {
    String value = argument.defaultValue();
    return value == null || value.isEmpty() || value.equals("false") ? "" : "`" + value + "`";
  }

  /** A description without its marks, and with the default and candidates that it names. */
  private static String words(CommandSpec spec, String[] description) {
    String all = String.join(" ", description);
    return CommandLine.Help.Ansi.OFF
        .string(all)
        .replace("%n", " ")
        .replace("%%", "%")
        .replace("${COMMAND-FULL-NAME}", spec.qualifiedName())
        .replace("|", "\\|")
        .replaceAll("\\s+", " ")
        .strip();
  }

  private void events() throws IOException {
    line("\n## Events of the flight recorder\n");
    line(
        """
        All have the category `jofi`, a thread, and no stack trace. `jcmd PID JFR.start filename=F.jfr` records those that are on;
        `+NAME#enabled=true` and `+NAME#threshold=1ms` behind it change that. As long as nobody records, nothing of JFR is loaded.
        """);
    for (EventType type : eventTypes()) {
      line("### %s\n".formatted(type.getName()));
      line("%s.\n".formatted(type.getDescription()));
      line("%s\n".formatted(defaults(type)));
      line("| field | type | what it is |\n|---|---|---|");
      for (ValueDescriptor field : type.getFields()) {
        if (!OF_EVERY_EVENT.contains(field.getName())) {
          String unit = field.getContentType();
          line(
              "| `%s` | %s%s | %s |"
                  .formatted(
                      field.getName(),
                      field.getTypeName().replace("java.lang.", ""),
                      unit == null
                          ? ""
                          : ", "
                              + unit.substring(unit.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT),
                      field.getLabel()));
        }
      }
      line("");
    }
  }

  private static String defaults(EventType type) {
    Map<String, String> settings = new TreeMap<>();
    for (SettingDescriptor setting : type.getSettingDescriptors()) {
      settings.put(setting.getName(), setting.getDefaultValue());
    }
    List<String> words = new ArrayList<>();
    words.add(settings.get("enabled").equals("true") ? "On" : "Off");
    String threshold = settings.getOrDefault("threshold", "0 ns");
    if (!threshold.equals("0 ns")) {
      words.add("from " + threshold + " on");
    }
    String throttle = settings.getOrDefault("throttle", "off");
    if (!throttle.equals("off")) {
      words.add("up to " + throttle);
    }
    return String.join(", ", words) + ".";
  }

  /** Of the package in which all of them are. */
  static List<EventType> eventTypes() throws IOException {
    List<EventType> types = new ArrayList<>();
    for (String name : classNames()) {
      Class<?> type;
      try {
        type = Class.forName(name);
      } catch (ClassNotFoundException e) {
        throw new IllegalStateException(e);
      }
      if (Event.class.isAssignableFrom(type)) {
        types.add(EventType.getEventType(type.asSubclass(Event.class)));
      }
    }
    types.sort(Comparator.comparing(EventType::getName));
    return types;
  }

  private static List<String> classNames() throws IOException {
    String folder = Events.class.getPackageName().replace('.', '/');
    try {
      URI home = Events.class.getProtectionDomain().getCodeSource().getLocation().toURI();
      Path root = Path.of(home);
      if (Files.isDirectory(root)) {
        return classNames(root.resolve(folder));
      }
      try (FileSystem jar = FileSystems.newFileSystem(root)) {
        return classNames(jar.getPath("/" + folder));
      }
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> classNames(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith("Event.class"))
          .map(name -> Events.class.getPackageName() + "." + name.replace(".class", ""))
          .sorted()
          .toList();
    }
  }

  private void loggers() {
    line("## Loggers\n");
    line(
        """
        `System.Logger` is used, so that `java.util.logging` takes them unless something else is installed. A class logs %d lines of
        a level in 10 s at most, but for `DEBUG`; the next line says how many were left out. Nothing is logged for each message.
        """
            .formatted(Log.MOST_LINES));
    line("| name | what is logged there |\n|---|---|");
    for (Log.Name name : Log.Name.values()) {
      line("| `%s` | %s |".formatted(name.title(), name.meaning()));
    }
  }
}
