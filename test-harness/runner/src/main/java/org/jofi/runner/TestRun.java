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
    int lanes = Integer.getInteger("jofi.test.lanes", Runtime.getRuntime().availableProcessors());
    run(passes, lanes, false);
    run(passes, 1, true);
    Leftovers.remove(began);
    expectations.write(results);
    return report.end(results, budgets);
  }

  private void run(List<Pass> passes, int count, boolean alone) throws InterruptedException {
    Lanes lanes = new Lanes(expectations::seconds, WORTH_HELPING);
    for (Pass pass : passes) {
      lanes.add(pass, pass.classes().stream().filter(one -> !alone || one.alone()).toList());
    }
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = i;
      threads.add(
          Thread.ofPlatform()
              .name("lane-" + number)
              .start(
                  () ->
                      new Lane(number, lanes, alone, ofPass, report, logs, caches, workers).run()));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }
}
