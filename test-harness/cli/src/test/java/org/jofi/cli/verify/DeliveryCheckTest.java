package org.jofi.cli.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.Stream;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each way in which a fabric can break its word is named, and a fabric that keeps it is not. */
class DeliveryCheckTest {

  private static DeliveryFinding check(long bytes, FaultPlan faults, boolean flushes) {
    try (DeliveryPath path = new SimulatedLoopback(bytes, faults, flushes)) {
      return new DeliveryCheck(path).run(new BytePattern(11));
    }
  }

  static Stream<Arguments> faults() {
    return Stream.of(
        Arguments.of(Fault.DROPPED_WRITE, DeliveryFault.NOTHING_ARRIVED),
        Arguments.of(Fault.MISPLACED_WRITE, DeliveryFault.WRONG_PLACE),
        Arguments.of(Fault.PARTIAL_WRITE, DeliveryFault.PARTIAL),
        Arguments.of(Fault.EARLY_COMPLETION, DeliveryFault.EARLY_COMPLETION));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void aBrokenFabricIsNamed(Fault fault, DeliveryFault expected) {
    for (long bytes : new long[] {1024, 5000, 1 << 20}) {
      DeliveryFinding finding = check(bytes, FaultPlan.none().with(fault), true);
      assertEquals(expected, finding.fault(), finding::detail);
      assertTrue(!finding.arrived());
      assertTrue(!finding.fault().advice().isEmpty());
    }
  }

  @Test
  void staleDataThatTheFlushMakesVisibleArrived() {
    DeliveryFinding finding = check(4096, FaultPlan.none().with(Fault.STALE_UNTIL_FLUSH), true);
    assertEquals(DeliveryFault.STALE_UNTIL_FLUSH, finding.fault());
    assertTrue(finding.arrived(), finding::detail);
  }

  @Test
  void staleDataThatTheTransportDoesNotFlushDidNotArrive() {
    DeliveryFinding finding = check(4096, FaultPlan.none().with(Fault.STALE_UNTIL_FLUSH), false);
    assertEquals(DeliveryFault.STALE_UNTIL_FLUSH, finding.fault());
    assertTrue(!finding.arrived());
    assertTrue(finding.detail().contains("saw no need"), finding::detail);
  }

  @Test
  void aReportedFailureIsNoFalseSuccess() {
    DeliveryFinding finding = check(4096, FaultPlan.none().with(Fault.COMPLETION_ERROR, 1), true);
    assertEquals(DeliveryFault.REPORTED, finding.fault());
    assertTrue(!finding.arrived());
    assertTrue(finding.detail().contains("EIO"), finding::detail);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 7, 8, 63, 64, 1000, 1 << 20})
  void aFabricThatKeepsItsWordIsClean(long bytes) {
    for (boolean flushes : new boolean[] {true, false}) {
      DeliveryFinding finding = check(bytes, FaultPlan.none(), flushes);
      assertEquals(DeliveryFault.NONE, finding.fault(), finding::detail);
      assertTrue(finding.arrived());
    }
  }

  @Test
  void patternsDifferEverywhereAndTellWhereTheyAre() {
    BytePattern pattern = new BytePattern(3);
    BytePattern other = new BytePattern(4);
    int alike = 0;
    for (long i = -5000; i < 5000; i++) {
      assertTrue(pattern.sent(i) != pattern.before(i));
      alike += pattern.sent(i) == other.sent(i) ? 1 : 0;
    }
    assertTrue(alike < 200, alike + " of 10000 bytes alike");
  }

  @Test
  void bytesThatNobodySentAndBytesAroundTheBufferAreSeen() {
    BytePattern pattern = new BytePattern(5);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment target = arena.allocate(100 + 20);
      pattern.fillBefore(target, -10);
      pattern.fillSent(target.asSlice(10, 100));
      assertTrue(TargetComparison.of(target, pattern, 10, 100).isDelivered());

      target.set(ValueLayout.JAVA_BYTE, 10 + 40, (byte) (pattern.sent(40) + 1));
      TargetComparison corrupted = TargetComparison.of(target, pattern, 10, 100);
      if (corrupted.old() == 0) {
        assertEquals(DeliveryFault.CORRUPTED, corrupted.fault(), corrupted::detail);
      }
      assertEquals(40, corrupted.firstWrong());
      assertEquals(40, corrupted.lastWrong());

      pattern.fillSent(target.asSlice(10, 100));
      target.set(ValueLayout.JAVA_BYTE, 110, (byte) (pattern.before(100) + 1));
      TargetComparison beyond = TargetComparison.of(target, pattern, 10, 100);
      assertEquals(DeliveryFault.WRONG_PLACE, beyond.fault());
      assertEquals(1, beyond.touchedAround());
    }
  }
}
