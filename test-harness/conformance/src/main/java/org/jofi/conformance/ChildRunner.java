package org.jofi.conformance;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.subject.Subjects;
import org.jofi.fabric.FabricUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Runs cases in child JVMs. They share one until a case fails, and the rest goes on in a fresh one.
 * Risky cases share others: one that fails behind another of them is tried again in a fresh one,
 * and that counts, as the fault may have been the other's. A crash is that case's failure, with the
 * signal; a case that hangs is stopped. One thread at a time.
 */
public final class ChildRunner {
  /** For what a child does beside the case: starting, and loading libfabric. */
  private static final long START_MILLIS = 60_000;

  private static final long GRACE_MILLIS = 5_000;

  private final String subject;
  private final @Nullable String domain;
  private final Path java;
  private final List<String> properties;
  private Map<String, String> environment = Map.of();
  private Consumer<ProcessHandle> started = child -> {};
  private Report.@Nullable Description description;

  /**
   * @param subject as {@link Subjects#named} has it
   * @param domain the NIC; null for any
   * @param java the java that runs the cases
   * @param properties system properties of the children, as {@code NAME=VALUE}
   */
  public ChildRunner(String subject, @Nullable String domain, Path java, List<String> properties) {
    this.subject = subject;
    this.domain = domain;
    this.java = java;
    this.properties = List.copyOf(properties);
  }

  /**
   * Gives the children variables beside those that they inherit.
   *
   * @return this
   */
  public ChildRunner withEnvironment(Map<String, String> variables) {
    environment = Map.copyOf(variables);
    return this;
  }

  /**
   * Tells of every child that is started, whose end may leave something behind.
   *
   * @return this
   */
  public ChildRunner onStart(Consumer<ProcessHandle> told) {
    started = told;
    return this;
  }

  /** The java that runs this process. */
  public static Path ownJava() {
    return Path.of(System.getProperty("java.home"), "bin", "java");
  }

  /**
   * Runs cases.
   *
   * @param cases in this order
   * @param progress is told each result
   * @throws FabricUnavailableException if the subject is not to be had on this machine
   * @throws IOException if the java does not start
   * @throws InterruptedException if the caller was interrupted; the child is ended
   */
  public Report run(List<Case> cases, Consumer<Result> progress)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    List<Result> results = new ArrayList<>();
    for (List<Case> group : groups(cases)) {
      Deque<Case> left = new ArrayDeque<>(group);
      while (!left.isEmpty()) {
        runSome(
            left,
            result -> {
              results.add(result);
              progress.accept(result);
            });
      }
    }
    results.sort(Comparator.comparingInt(result -> cases.indexOf(result.kase())));
    Report.Description known = description;
    if (known == null) {
      throw new IllegalArgumentException("no cases to run");
    }
    return new Report(known, results, System.nanoTime() - start);
  }

  /** What is not risky together, and then what is. */
  private static List<List<Case>> groups(List<Case> cases) {
    return List.of(
        cases.stream().filter(kase -> !kase.risky()).toList(),
        cases.stream().filter(Case::risky).toList());
  }

  /** Runs one child, which takes at least one case off the list. */
  private void runSome(Deque<Case> left, Consumer<Result> ended)
      throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of(subject, domain == null ? "" : domain));
    left.forEach(kase -> arguments.add(kase.id()));
    try (ChildProcess child = ChildProcess.start(java, properties, environment, arguments)) {
      started.accept(child.handle());
      awaitStart(child);
      boolean fresh = true;
      while (!left.isEmpty()) {
        Case kase = left.removeFirst();
        long start = System.nanoTime();
        boolean started = child.next(START_MILLIS).isPresent();
        Result result =
            started ? result(child, kase, start) : ended(child, kase, "it does not start", start);
        boolean broken = result.verdict() == Verdict.BROKEN;
        if (broken && kase.risky() && !fresh) {
          left.addFirst(kase);
          return;
        }
        ended.accept(result);
        if (broken) {
          // The rest goes on in a process that nothing has gone wrong in.
          return;
        }
        fresh = false;
      }
    }
  }

  private void awaitStart(ChildProcess child) throws InterruptedException {
    Optional<Wire.Message> first = child.next(START_MILLIS);
    if (first.isPresent() && first.get().word().equals(Wire.DESCRIPTION)) {
      if (description == null) {
        description = Wire.description(first.get());
      }
      return;
    }
    String why =
        first
            .filter(message -> message.word().equals(Wire.UNAVAILABLE))
            .map(message -> message.field(0))
            .orElseGet(() -> "%s did not start to run cases:%n%s".formatted(java, child.output()));
    throw new FabricUnavailableException(why);
  }

  private Result result(ChildProcess child, Case kase, long start) throws InterruptedException {
    Optional<Wire.Message> message = child.next(kase.bound().toMillis() + GRACE_MILLIS);
    if (message.isPresent()) {
      return Wire.result(message.get(), kase);
    }
    return ended(
        child, kase, "it hangs: stopped after %d s".formatted(kase.bound().toSeconds()), start);
  }

  /** The failure of a case whose process ended, or has to be. */
  private Result ended(ChildProcess child, Case kase, String otherwise, long start)
      throws InterruptedException {
    Optional<String> end = child.end();
    String happened = end.map(text -> "it crashes: " + text).orElse(otherwise);
    String output = child.output();
    return Result.broken(
        kase,
        "the case to end",
        output.isEmpty() || end.isEmpty()
            ? happened
            : happened + "; its last words: " + last(output),
        subject,
        System.nanoTime() - start);
  }

  /** The end of what a process printed, on one line. */
  private static String last(String output) {
    String line = output.strip().replaceAll("\\s*\\R\\s*", " | ");
    int most = 400;
    return line.length() <= most ? line : "..." + line.substring(line.length() - most);
  }
}
