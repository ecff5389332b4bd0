package org.jofi.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Runs the tests of all modules, or some, in processes beside each other; then those tagged {@code
 * alone}, one at a time.
 */
public final class TestRun {
  private static final double WORTH_HELPING = 5;

  private final RunOptions options;
  private final List<PassResult> results = new ArrayList<>();
  private final Map<Pass, PassResult> ofPass = new LinkedHashMap<>();
  private final Path logs;
  private final Budgets budgets;
  private final Expectations expectations;
  private final Report report;
  private final StartCaches caches;
  private final Set<WorkerProcess> workers = ConcurrentHashMap.newKeySet();

  private TestRun(RunOptions options) throws IOException {
    this.options = options;
    logs = Files.createDirectories(options.root().resolve(".jofi/tests"));
    budgets =
        Budgets.read(options.root().resolve("test-harness/runner/budgets.txt"), options.full());
    expectations = Expectations.read(logs.resolve("seconds.txt"), budgets);
    report = new Report(System.out, options, logs);
    caches = new StartCaches(options.root().resolve(".jofi/start"), report);
  }

  /**
   * Runs tests. Exits with 0 if at least one ran and none failed, else with 1.
   *
   * @param args see {@link RunOptions}
   * @throws IOException if the build left out what the runner needs
   * @throws InterruptedException if it is ended
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    TestRun run = new TestRun(RunOptions.of(args));
    System.exit(run.run() ? 0 : 1);
  }

  private boolean run() throws IOException, InterruptedException {
    Instant began = Instant.now();
    try (Stream<Path> old = Files.list(logs)) {
      for (Path log :
          (Iterable<Path>) old.filter(file -> file.toString().endsWith(".log"))::iterator) {
        Files.delete(log);
      }
    }
    List<Pass> passes = Plan.of(options);
    for (Pass pass : passes) {
      long parts = pass.classes().stream().mapToInt(one -> one.alone() ? 2 : 1).sum();
      PassResult result = new PassResult(pass, (int) parts);
      results.add(result);
      ofPass.put(pass, result);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(() -> workers.forEach(WorkerProcess::kill)));
    report.begin(results);
    Map<Pass, List<TestClass>> beside = new LinkedHashMap<>();
    Map<Pass, List<TestClass>> alone = new LinkedHashMap<>();
    for (Pass pass : passes) {
      beside.put(pass, pass.classes());
      alone.put(pass, pass.classes().stream().filter(TestClass::alone).toList());
    }
    int lanes = Integer.getInteger("jofi.test.lanes", Runtime.getRuntime().availableProcessors());
    run(beside, lanes, Lane.Part.BESIDE, ofPass);
    run(alone, 1, Lane.Part.ALONE, ofPass);
    repeat();
    Leftovers.remove(began);
    expectations.write(results);
    return report.end(results, budgets);
  }

  /** Where one test of hundreds depends on what else the machine did, a run is not lost. */
  private void repeat() throws InterruptedException {
    if (!options.full() || !options.isWhole()) {
      return;
    }
    List<Repeat> repeats = Repeat.of(results);
    Map<Pass, List<TestClass>> methods = new LinkedHashMap<>();
    Map<Pass, PassResult> again = new LinkedHashMap<>();
    for (Repeat repeat : repeats) {
      report.say("what failed of " + repeat.first().pass.name() + " runs once more, alone");
      methods.put(repeat.first().pass, repeat.methods());
      again.put(repeat.first().pass, repeat.again());
    }
    run(methods, 1, Lane.Part.AGAIN, again);
    repeats.forEach(Repeat::settle);
  }

  private void run(
      Map<Pass, List<TestClass>> classes, int count, Lane.Part part, Map<Pass, PassResult> into)
      throws InterruptedException {
    Lanes lanes = new Lanes(expectations::seconds, WORTH_HELPING);
    classes.forEach(lanes::add);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = i;
      threads.add(
          Thread.ofPlatform()
              .name("lane-" + number)
              .start(
                  () -> new Lane(number, lanes, part, into, report, logs, caches, workers).run()));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }
}
