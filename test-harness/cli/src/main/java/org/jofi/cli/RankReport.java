package org.jofi.cli;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.RankDevice;
import picocli.CommandLine;

/**
 * What a rank prints while it runs: the one that was chosen to a table row by row, or at the end a
 * document; the others nothing. Over a table on a terminal moves a bar.
 */
final class RankReport implements LongConsumer, AutoCloseable {
  private final PrintWriter out;
  private final boolean prints;
  private final boolean json;
  private final Optional<ProgressLine> bar;

  /**
   * @param prints whether this rank is the one
   * @param label of the bar
   * @param total what the bar ends at
   */
  RankReport(
      CommandLine.Model.CommandSpec spec,
      RankOptions options,
      boolean prints,
      String label,
      long total) {
    this.out = spec.commandLine().getOut();
    this.prints = prints;
    this.json = options.json;
    this.bar =
        prints && options.progress && !json
            ? Optional.of(
                new ProgressLine(
                    spec.commandLine().getErr(), label, total, System.getenv("NO_COLOR") == null))
            : Optional.empty();
  }

  /** Moves the bar. */
  @Override
  public void accept(long done) {
    bar.ifPresent(line -> line.accept(done));
  }

  /** Prints for people, if this rank does. */
  @SuppressWarnings("AnnotateFormatMethod") // Would be a dependency for that alone.
  void text(String format, Object... values) {
    if (prints && !json) {
      close();
      out.printf(Locale.ROOT, format, values);
      out.flush();
    }
  }

  /** Prints for programs, if this rank does. */
  void document(
      FabricChoice fabric, RankDevice device, Map<String, Object> settings, List<?> results) {
    if (prints && json) {
      Map<String, Object> document = new LinkedHashMap<>(settings);
      document.put("fabric", fabric.notice());
      document.put("provider", device.device().properties().provider());
      document.put("device", device.device().properties().name());
      document.put("rails", device.nics());
      document.put("results", results);
      out.println(Json.pretty(document));
      out.flush();
    }
  }

  /** Takes the bar off the terminal. */
  @Override
  public void close() {
    bar.ifPresent(ProgressLine::clear);
  }
}
