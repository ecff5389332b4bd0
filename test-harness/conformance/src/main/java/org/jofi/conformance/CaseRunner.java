package org.jofi.conformance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.BrokenRuleException;
import org.jofi.conformance.bench.NotClaimedException;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.subject.Subject;
import org.jofi.fabric.FabricInfo;

/**
 * Runs cases in this process, each on a thread of its own with a bound. For subjects that can be
 * trusted not to crash the JVM; a case that hangs is reported, and its thread is left behind. One
 * thread at a time.
 */
public final class CaseRunner {
  private static final long INTERRUPT_MILLIS = 500;
  private static final String OWN_PACKAGE = CaseRunner.class.getPackageName() + ".";

  private final Subject subject;

  /**
   * @param subject what is examined
   */
  public CaseRunner(Subject subject) {
    this.subject = subject;
  }

  /**
   * Runs cases one after the other.
   *
   * @param cases in this order
   * @param progress is told each result
   * @throws InterruptedException if the caller was interrupted; the case under way is given up
   */
  public Report run(List<Case> cases, Consumer<Result> progress) throws InterruptedException {
    long start = System.nanoTime();
    List<Result> results = new ArrayList<>();
    for (Case kase : cases) {
      Result result = run(kase);
      results.add(result);
      progress.accept(result);
    }
    return new Report(Descriptions.of(subject), results, System.nanoTime() - start);
  }

  /**
   * Runs one case.
   *
   * @throws InterruptedException if the caller was interrupted; the case is given up
   */
  public Result run(Case kase) throws InterruptedException {
    long start = System.nanoTime();
    Attempt attempt = new Attempt(kase);
    FutureTask<Result> task = new FutureTask<>(() -> attempt.run(start));
    Thread thread = Thread.ofPlatform().daemon().name("case " + kase.id()).start(task);
    try {
      return task.get(kase.bound().toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      return attempt.failure(e.getCause() == null ? e : e.getCause(), start);
    } catch (TimeoutException e) {
      String frames = frames(thread);
      thread.interrupt();
      thread.join(INTERRUPT_MILLIS);
      return Result.broken(
          kase,
          "the case to end",
          "it hangs: stopped after %d s %s, at %s"
              .formatted(kase.bound().toSeconds(), attempt.step, frames),
          attempt.nic,
          System.nanoTime() - start);
    }
  }

  private static String frames(Thread thread) {
    StringJoiner frames = new StringJoiner(" < ");
    Arrays.stream(thread.getStackTrace()).limit(6).forEach(frame -> frames.add(place(frame)));
    return frames.toString();
  }

  private static String place(StackTraceElement frame) {
    return "%s.%s:%d"
        .formatted(
            frame.getClassName().substring(frame.getClassName().lastIndexOf('.') + 1),
            frame.getMethodName(),
            frame.getLineNumber());
  }

  /** A case being run; what another thread wants to know of it if it does not end. */
  private final class Attempt {
    private final Case kase;
    private volatile String step = "while discovering";
    private volatile String nic;

    Attempt(Case kase) {
      this.kase = kase;
      this.nic = subject.name();
    }

    Result run(long start) throws InterruptedException {
      try {
        List<FabricInfo> candidates = kase.need().candidates(subject);
        List<FabricInfo> claiming =
            candidates.stream()
                .filter(info -> kase.need().lacking().apply(info).isEmpty())
                .toList();
        if (claiming.isEmpty()) {
          return Result.notClaimed(kase, reason(candidates), System.nanoTime() - start);
        }
        nic = claiming.getFirst().toString();
        tryOut(claiming);
        return Result.kept(kase, System.nanoTime() - start);
      } catch (NotClaimedException e) {
        return Result.notClaimed(kase, text(e), System.nanoTime() - start);
      }
    }

    private void tryOut(List<FabricInfo> nics) throws InterruptedException {
      try (Bench bench = new Bench(subject, nics)) {
        step = "in its body";
        kase.body().run(bench);
        step = "while closing";
      }
    }

    private String reason(List<FabricInfo> candidates) {
      Optional<String> lacking =
          candidates.isEmpty()
              ? Optional.empty()
              : kase.need().lacking().apply(candidates.getFirst());
      return lacking.orElseGet(
          () ->
              kase.need().request().isEmpty()
                  ? "discovery finds no NIC"
                  : "discovery finds no NIC with " + kase.need().request());
    }

    Result failure(Throwable thrown, long start) {
      BrokenRuleException broken = thrown instanceof BrokenRuleException b ? b : null;
      String expected =
          broken != null
              ? broken.expected()
              : step.equals("while closing") ? "everything to close" : "the calls to succeed";
      String happened = broken != null ? broken.happened() : text(thrown);
      return Result.broken(kase, expected, happened, nic + at(thrown), System.nanoTime() - start);
    }

    private static String text(Throwable thrown) {
      String message = thrown.getMessage();
      return thrown instanceof RuntimeException && message != null ? message : thrown.toString();
    }

    /** The line of the case. */
    private static String at(Throwable thrown) {
      return Arrays.stream(thrown.getStackTrace())
          .filter(frame -> isCase(frame.getClassName()))
          .findFirst()
          .map(frame -> " (%s:%d)".formatted(frame.getFileName(), frame.getLineNumber()))
          .orElse("");
    }

    private static boolean isCase(String className) {
      if (!className.startsWith(OWN_PACKAGE)) {
        return false;
      }
      String rest = className.substring(OWN_PACKAGE.length());
      return rest.indexOf('.') > 0 && !rest.startsWith("bench.");
    }
  }
}
