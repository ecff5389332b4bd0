package org.jofi.runner;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs one class after the other, in a process that it keeps as long as the pass stays the same.
 */
final class Lane {
  private final int number;
  private final Lanes lanes;
  private final Part part;
  private final Map<Pass, PassResult> results;
  private final Report report;
  private final Path logs;
  private final StartCaches caches;
  private final Set<WorkerProcess> workers;

  /** What of the classes runs. */
  enum Part {
    /** All but the tests that run alone. */
    BESIDE,
    /** Those that run alone. */
    ALONE,
    /** Whatever is asked for. */
    AGAIN
  }

  /**
   * @param workers those that live, which are ended with the runner
   */
  Lane(
      int number,
      Lanes lanes,
      Part part,
      Map<Pass, PassResult> results,
      Report report,
      Path logs,
      StartCaches caches,
      Set<WorkerProcess> workers) {
    this.number = number;
    this.lanes = lanes;
    this.part = part;
    this.results = results;
    this.report = report;
    this.logs = logs;
    this.caches = caches;
    this.workers = workers;
  }

  /** Runs until nothing is left. */
  void run() {
    WorkerProcess worker = null;
    Pass of = null;
    try {
      for (Optional<Lanes.Next> next = lanes.next(number);
          next.isPresent();
          next = lanes.next(number)) {
        Pass pass = next.get().pass();
        if (worker != null && !pass.equals(of)) {
          end(worker);
          worker = null;
        }
        of = pass;
        PassResult result = Objects.requireNonNull(results.get(pass));
        TestClass type = next.get().type();
        report.started(number, result, type);
        long began = System.nanoTime();
        long processor = 0;
        try {
          if (worker == null) {
            worker = start(pass);
            workers.add(worker);
          }
          processor = run(worker, result, type);
          if (processor < 0) {
            processor = 0;
            end(worker);
            worker = null;
          }
        } catch (IOException unusable) {
          result.broke();
          add(result, Events.Kind.FAILED, type.name(), 0, String.valueOf(unusable.getMessage()));
          worker = null;
        }
        boolean last =
            result.end(new PassResult.Timed(type.name(), System.nanoTime() - began, processor));
        report.ended(number, result, last);
      }
      if (worker != null) {
        end(worker);
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException("lane " + number + " broke", e);
    }
  }

  private WorkerProcess start(Pass pass) throws IOException, InterruptedException {
    return new WorkerProcess(
        caches.provide(pass), logs.resolve(pass.log()), classPath(), WorkerProcess.SILENCE);
  }

  private void end(WorkerProcess worker) throws IOException {
    worker.close();
    workers.remove(worker);
  }

  /** The processor time in ns that the class took; -1 if its process is of no use any more. */
  private long run(WorkerProcess worker, PassResult result, TestClass type)
      throws IOException, InterruptedException {
    Set<String> running = new HashSet<>();
    long[] processor = new long[1];
    WorkerProcess.End end =
        worker.run(
            order(result.pass, type),
            event -> {
              switch (event.kind()) {
                case STARTED -> running.add(event.test());
                case DONE -> processor[0] = event.nanos();
                default -> {
                  running.remove(event.test());
                  add(result, event.kind(), event.test(), event.nanos(), event.text());
                }
              }
            });
    if (end == WorkerProcess.End.DONE) {
      return processor[0];
    }
    String what =
        end == WorkerProcess.End.HUNG
            ? "it hung, and was ended; its threads are in the log"
            : "the JVM of the tests ended amid it, with " + worker.exit();
    if (running.isEmpty()) {
      running.add(type.name());
    }
    result.broke();
    running.forEach(test -> add(result, Events.Kind.FAILED, test, 0, what));
    return -1;
  }

  private void add(PassResult result, Events.Kind how, String test, long nanos, String text) {
    PassResult.Ended ended = new PassResult.Ended(how, test, nanos, text);
    result.add(ended);
    report.test(result, ended);
  }

  private Worker.Order order(Pass pass, TestClass type) {
    String method = type.method().orElse("");
    List<String> included = pass.included();
    List<String> excluded = pass.excluded();
    if (part == Part.BESIDE) {
      excluded = Stream.concat(excluded.stream(), Stream.of(TestClass.ALONE)).toList();
    } else if (part == Part.ALONE) {
      included =
          included.isEmpty()
              ? List.of(TestClass.ALONE)
              : included.stream().map(tag -> tag + " & " + TestClass.ALONE).toList();
    }
    return new Worker.Order(type.name(), method, included, excluded);
  }

  /** The runner's own class path; the module's comes first. */
  private static String classPath() {
    return Stream.of(System.getProperty("java.class.path").split(":", -1))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(":"));
  }
}
