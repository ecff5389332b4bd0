package org.jofi.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jofi.conformance.KnownFailure.Rate;
import org.jofi.conformance.rule.Case;
import org.junit.jupiter.api.Test;

class JudgementTest {
  private static final Case READ = Cases.named("rma/read");
  private static final Case EMPTY = Cases.named("rma/empty-write");

  private static KnownFailure known(Case kase, Rate rate) {
    return new KnownFailure(
        "shm", VersionRange.only("libfabric", "2.1"), kase.id(), rate, "does not", "does without");
  }

  private static Result broken(Case kase) {
    return Result.broken(kase, "this", "that", "there", 1);
  }

  private static Judgement of(
      String provider, String source, List<KnownFailure> known, Result... results) {
    return Judgement.of(
        new Report(new Report.Description(provider, source, "nic", "claims"), List.of(results), 1),
        known);
  }

  @Test
  void onlyExactlyThatProviderVersionAndCaseIsKnown() {
    List<KnownFailure> known = List.of(known(EMPTY, Rate.ALWAYS));
    Judgement same = of("shm", "libfabric 2.1.0", known, broken(EMPTY));
    assertTrue(same.isGood(false));
    assertFalse(same.isGood(true));
    assertEquals(
        "0 kept, 1 broken (1 known of shm 2.1: rma/empty-write), 0 not claimed", same.summary());
    for (Judgement other :
        List.of(
            of("shm2", "libfabric 2.1", known, broken(EMPTY)),
            of("shm", "libfabric 2.2", known, broken(EMPTY)),
            of("shm", "libfabric 2.10", known, broken(EMPTY)),
            of("shm", "libfabric 2.1", known, broken(READ)),
            of("shm", "libfabric 2.1", known, broken(EMPTY), broken(READ)))) {
      assertFalse(other.isGood(false), other::summary);
      assertFalse(other.isGood(true), other::summary);
    }
  }

  @Test
  void theSummaryAddsNothingUp() {
    Result notClaimed = Result.notClaimed(Cases.named("keys/unique"), "chooses none", 1);
    Judgement clean =
        of("sim:efa", "simulated fabric", List.of(), Result.kept(READ, 1), notClaimed);
    assertEquals("1 kept, 0 broken, 1 not claimed", clean.summary());
    assertTrue(clean.isGood(false) && clean.isGood(true));
    Judgement strange =
        of("sim:efa", "simulated fabric", List.of(), broken(READ), notClaimed, notClaimed);
    assertEquals("0 kept, 1 broken (none known of sim:efa), 2 not claimed", strange.summary());
    assertFalse(strange.isGood(false));
  }

  @Test
  void whatIsKnownAndNotBrokenIsToldAndStaleIfItAlwaysWas() {
    List<KnownFailure> known = List.of(known(EMPTY, Rate.ALWAYS), known(READ, new Rate(2, 9)));
    Judgement mended =
        of(
            "shm",
            "libfabric 2.1",
            known,
            Result.kept(READ, 1),
            Result.notClaimed(EMPTY, "has none", 1));
    assertTrue(mended.isGood(false) && mended.isGood(true));
    assertEquals(
        List.of("rma/read false", "rma/empty-write true"),
        mended.notBroken().stream()
            .map(one -> one.result().kase().id() + " " + one.isStale())
            .toList());
    // A case that did not run says nothing.
    assertTrue(of("shm", "libfabric 2.1", known, broken(EMPTY)).notBroken().isEmpty());
  }

  @Test
  void knownFailuresAreOfCasesAndOnceForAVersion() {
    Set<String> seen = new HashSet<>();
    for (KnownFailure known : KnownFailures.ALL) {
      assertEquals(known.caseId(), Cases.named(known.caseId()).id());
      assertTrue(seen.add(known.provider() + known.versions() + known.caseId()), known::toString);
    }
  }
}
