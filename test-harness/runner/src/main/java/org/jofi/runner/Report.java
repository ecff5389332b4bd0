package org.jofi.runner;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Says what goes on, and at the end what became of it. Lanes call it from their threads. */
final class Report {
  private static final int SHORT_MINUTES = 10;
  private static final int SHORT_MINUTES_WITH_BUILD = 13;
  private static final int FULL_MINUTES = 40;

  /** Built trees are looked at only, which takes less than this. */
  private static final long BUILT_SECONDS = 15;

  /** Frames that tell nothing about a test. */
  private static final Pattern FOREIGN =
      Pattern.compile("\\tat (org\\.junit|java\\.base|net\\.jqwik)|\\t\\.\\.\\. \\d+ more");

  private static final int MOST_LINES = 15;
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final PrintStream out;
  private final RunOptions options;
  private final Path logs;
  private final boolean terminal = System.getenv("JOFI_TERMINAL") != null;
  private final Map<Integer, String> lanes = new TreeMap<>();
  private int nameWidth;
  private int passes;
  private int over;
  private long count;
  private int failed;
  private long said = System.nanoTime();
  private boolean status;

  Report(PrintStream out, RunOptions options, Path logs) {
    this.out = out;
    this.options = options;
    this.logs = logs;
  }

  synchronized void begin(List<PassResult> results) {
    passes = results.size();
    nameWidth = results.stream().mapToInt(result -> result.pass.name().length()).max().orElse(1);
    out.printf("%d modules and passes to test; logs: %s%n", passes, logs);
  }

  synchronized void started(int lane, PassResult result, TestClass type) {
    lanes.put(lane, result.pass.name() + " " + type.simpleName());
    progress();
  }

  /** A test ended; one that failed is told at once. */
  synchronized void test(PassResult result, PassResult.Ended test) {
    count++;
    if (test.how() == Events.Kind.FAILED) {
      failed++;
      line(
          "FAILED %s: %s%n%s    log: %s%n    again: %s"
              .formatted(
                  result.pass.name(),
                  test.test(),
                  test.text()
                      .lines()
                      .filter(one -> !FOREIGN.matcher(one).lookingAt())
                      .limit(MOST_LINES)
                      .map(one -> "    " + one + "\n")
                      .collect(Collectors.joining()),
                  logs.resolve(result.pass.log()),
                  again(test)));
    }
    progress();
  }

  synchronized void ended(int lane, PassResult result, boolean last) {
    lanes.remove(lane);
    if (!last) {
      return;
    }
    over++;
    int bad = result.count(Events.Kind.FAILED);
    line(
        String.format(
            Locale.ROOT,
            "%-" + nameWidth + "s %6d passed%s, %6.1f s, %6.1f s of processor time",
            result.pass.name(),
            result.count(Events.Kind.PASSED),
            bad == 0 ? "" : ", " + bad + " FAILED",
            result.nanos() / 1e9,
            result.processorNanos() / 1e9));
  }

  /** Says something in between. */
  synchronized void say(String text) {
    line(text);
  }

  private void line(String text) {
    clear();
    out.println(text);
    out.flush();
    said = System.nanoTime();
  }

  private void clear() {
    if (status) {
      out.print("\r\033[K");
      status = false;
    }
  }

  /** Where it is: in a line that is rewritten on a terminal, else after a minute without a word. */
  private void progress() {
    if (!terminal && System.nanoTime() - said < QUIET_NANOS) {
      return;
    }
    String text =
        "%d of %d over, %d tests%s, %s; at %s"
            .formatted(
                over,
                passes,
                count,
                failed == 0 ? "" : ", " + failed + " FAILED",
                minutes((System.currentTimeMillis() - options.started()) / 1000),
                String.join(", ", lanes.values()));
    if (!terminal) {
      line("… " + text);
      return;
    }
    clear();
    // Longer than a terminal's line, it could not be rewritten.
    out.print(text.substring(0, Math.min(text.length(), 100)));
    out.flush();
    status = true;
  }

  /** Prints the end of it. True if something ran, and nothing failed. */
  synchronized boolean end(List<PassResult> results, Budgets budgets) {
    clear();
    if (options.rows() > 0) {
      printSlowest(results);
    }
    int passed = 0;
    int skipped = 0;
    int unsteady = 0;
    // Without those that passed when they ran once more.
    int bad = 0;
    for (PassResult result : results) {
      passed += result.count(Events.Kind.PASSED);
      if (result.left() > 0) {
        bad++;
        out.printf("failed: %s: %d classes did not run%n", result.pass.name(), result.left());
      }
      for (PassResult.Ended test : result.unsteady) {
        unsteady++;
        out.printf(
            "unsteady: %s: %s: it passed when it ran once more, alone; before: %s%n    again: %s%n",
            result.pass.name(), test.test(), firstLine(test.text()), again(test));
      }
      for (PassResult.Ended test : result.all(Events.Kind.FAILED)) {
        bad++;
        out.printf(
            "failed: %s: %s: %s%n    again: %s%n",
            result.pass.name(), test.test(), firstLine(test.text()), again(test));
      }
      for (PassResult.Ended test : result.all(Events.Kind.SKIPPED)) {
        skipped++;
        out.printf("skipped: %s: %s: %s%n", result.pass.name(), test.test(), test.text());
      }
    }
    boolean within = printBudgets(results, budgets);
    if (passed == 0 && bad == 0 && skipped == 0) {
      out.println("no test ran; those that are long run with --all only");
    }
    printTime(results);
    out.printf(
        "%d passed, %d failed, %d skipped%s%n",
        passed, bad, skipped, unsteady == 0 ? "" : ", " + unsteady + " unsteady");
    return passed > 0 && bad == 0 && within;
  }

  /** Where a module's time doubled, continuous integration fails; otherwise it is told. */
  private boolean printBudgets(List<PassResult> results, Budgets budgets) {
    if (!options.isWhole()) {
      return true;
    }
    List<String> exceeded = budgets.exceeded(results);
    exceeded.forEach(line -> out.println("over budget: " + line));
    return !budgets.fail(results) || !"true".equals(System.getenv("CI"));
  }

  private void printTime(List<PassResult> results) {
    long seconds = (System.currentTimeMillis() - options.started()) / 1000;
    String build =
        options.built() > BUILT_SECONDS
            ? ", of which building took " + minutes(options.built())
            : "";
    double processor = results.stream().mapToLong(PassResult::processorNanos).sum() / 60e9;
    if (!options.isWhole()) {
      out.printf("building and testing took %s%s%n", minutes(seconds), build);
      return;
    }
    int limit =
        options.full() ? FULL_MINUTES : build.isEmpty() ? SHORT_MINUTES : SHORT_MINUTES_WITH_BUILD;
    out.printf(
        Locale.ROOT,
        "%s run %s of %d%s; the tests took %.1f min of processor time%n",
        options.full() ? "full" : "short",
        minutes(seconds),
        limit,
        build,
        processor);
  }

  private static String minutes(long seconds) {
    return "%d min %d s".formatted(seconds / 60, seconds % 60);
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("no reason given");
  }

  /** The line that runs a test again; of an invocation, the whole method. */
  private String again(PassResult.Ended test) {
    String name = test.test().split(" ", 2)[0];
    return "./jofi test '%s'%s"
        .formatted(
            name.substring(
                name.lastIndexOf('.', name.contains("#") ? name.indexOf('#') : name.length()) + 1),
            options.full() ? " --all" : "");
  }

  private record Row(double seconds, double processor, String name) {}

  private void printSlowest(List<PassResult> results) {
    List<Row> classes =
        results.stream()
            .flatMap(
                result ->
                    result.classes.stream()
                        .map(
                            one ->
                                new Row(
                                    one.nanos() / 1e9,
                                    one.processorNanos() / 1e9,
                                    result.pass.name() + ": " + one.name())))
            .toList();
    out.printf("the slowest of %d classes (time, processor time):%n", classes.size());
    slowest(classes.stream())
        .forEach(
            row ->
                out.printf(
                    Locale.ROOT, "%8.1f s %8.1f s  %s%n", row.seconds, row.processor, row.name));
    List<Row> tests =
        results.stream()
            .flatMap(
                result ->
                    result.tests.stream()
                        .map(
                            one ->
                                new Row(
                                    one.nanos() / 1e9, 0, result.pass.name() + ": " + one.test())))
            .toList();
    out.printf("the slowest of %d tests:%n", tests.size());
    slowest(tests.stream())
        .forEach(row -> out.printf(Locale.ROOT, "%8.1f s  %s%n", row.seconds, row.name));
  }

  private Stream<Row> slowest(Stream<Row> rows) {
    return rows.sorted(Comparator.comparingDouble(Row::seconds).reversed()).limit(options.rows());
  }
}
