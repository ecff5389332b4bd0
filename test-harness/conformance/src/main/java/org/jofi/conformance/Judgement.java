package org.jofi.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jofi.conformance.rule.Case;

/** A report, held against what is known of exactly that provider and version. Immutable. */
public final class Judgement {
  private final Report report;
  private final List<KnownFailure> known;

  private Judgement(Report report, List<KnownFailure> known) {
    this.report = report;
    this.known = known;
  }

  /** By what was seen of the providers of libfabric. */
  public static Judgement of(Report report) {
    return of(report, KnownFailures.ALL);
  }

  static Judgement of(Report report, List<KnownFailure> known) {
    return new Judgement(
        report, known.stream().filter(one -> one.isOf(report.description())).toList());
  }

  /** What was judged. */
  public Report report() {
    return report;
  }

  /** Why a broken rule is no surprise; empty if it is one, or was not broken. */
  public Optional<KnownFailure> known(Result result) {
    return result.verdict() == Verdict.BROKEN ? of(result.kase()) : Optional.empty();
  }

  private Optional<KnownFailure> of(Case kase) {
    return known.stream().filter(one -> one.caseId().equals(kase.id())).findFirst();
  }

  /** The rules that are broken, and known to be. */
  public List<Result> knownBroken() {
    return report.with(Verdict.BROKEN).stream().filter(one -> known(one).isPresent()).toList();
  }

  /** The rules that are broken, and not known to be. */
  public List<Result> newlyBroken() {
    return report.with(Verdict.BROKEN).stream().filter(one -> known(one).isEmpty()).toList();
  }

  /**
   * A rule that is known to be broken, and was not in this run.
   *
   * @param failure what is known of it
   * @param result how it ended
   */
  public record NotBroken(KnownFailure failure, Result result) {
    /** Whether it was broken each time until now, so that what is known of it is out of date. */
    public boolean isStale() {
      return failure.rate().isAlways();
    }
  }

  /** The rules that are known to be broken, and were not in this run. */
  public List<NotBroken> notBroken() {
    List<NotBroken> all = new ArrayList<>();
    for (Result result : report.results()) {
      if (result.verdict() != Verdict.BROKEN) {
        of(result.kase()).ifPresent(failure -> all.add(new NotBroken(failure, result)));
      }
    }
    return all;
  }

  /**
   * Whether a user has nothing to fear that is not known.
   *
   * @param strict whether what is known counts as well
   */
  public boolean isGood(boolean strict) {
    return strict ? report.with(Verdict.BROKEN).isEmpty() : newlyBroken().isEmpty();
  }

  /** Provider and version, such as {@code shm 2.1}; a provider without a version by its name. */
  public String subject() {
    Report.Description examined = report.description();
    return Version.of(KnownFailures.LIBRARY, examined.source())
        .map(version -> examined.subject() + " " + version)
        .orElse(examined.subject());
  }

  /** The three counts in a line, and which of the broken rules are known. */
  public String summary() {
    Report.Count total = report.total();
    return "%d kept, %d broken%s, %d not claimed"
        .formatted(total.kept(), total.broken(), knownInBrackets(), total.notClaimed());
  }

  private String knownInBrackets() {
    if (report.with(Verdict.BROKEN).isEmpty()) {
      return "";
    }
    List<Result> some = knownBroken();
    return some.isEmpty()
        ? " (none known of %s)".formatted(subject())
        : " (%d known of %s: %s)"
            .formatted(
                some.size(),
                subject(),
                some.stream().map(result -> result.kase().id()).collect(Collectors.joining(", ")));
  }
}
