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
 * The output of a rank while it runs. One rank is chosen to print: a table, row by row, or a
 * document at the end. The others print nothing. On a terminal, a progress bar is below the table.
 */
final class RankReport implements LongConsumer, AutoCloseable {
  private final PrintWriter out;
  private final boolean prints;
  private final boolean json;
  private final Optional<ProgressLine> bar;

  /**
   * @param prints whether this rank is the one that prints
   * @param label of the bar
   * @param total the value at which the bar is full
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

  /** Prints text, if this rank prints and the output is not JSON. */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation would be a dependency of its own.
  void text(String format, Object... values) {
    if (prints && !json) {
      close();
      out.printf(Locale.ROOT, format, values);
      out.flush();
    }
  }

  /** Prints JSON, if this rank prints and the output is JSON. */
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

  /** Removes the bar from the terminal. */
  @Override
  public void close() {
    bar.ifPresent(ProgressLine::clear);
  }
}
