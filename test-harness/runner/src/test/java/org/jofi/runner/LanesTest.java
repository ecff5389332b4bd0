package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LanesTest {
  private static Pass pass(String module) {
    return Passes.of(module, "");
  }

  private static List<TestClass> classes(String... names) {
    return Stream.of(names).map(name -> new TestClass(name, Optional.empty(), false)).toList();
  }

  private static Lanes lanes(Map<String, Double> seconds) {
    return new Lanes(next -> seconds.getOrDefault(next.type().name(), 0.0), 5);
  }

  private static String next(Lanes lanes, int lane) {
    return lanes
        .next(lane)
        .map(next -> next.pass().module() + ":" + next.type().name())
        .orElse("none");
  }

  @Test
  void theLongestBeginsFirstAndALaneStaysWithItsPass() {
    Lanes lanes = lanes(Map.of("A", 1.0, "B", 4.0, "C", 2.0));
    lanes.add(pass("short"), classes("A"));
    lanes.add(pass("long"), classes("C", "B"));

    assertEquals("long:B", next(lanes, 0));
    assertEquals("short:A", next(lanes, 1));
    assertEquals("long:C", next(lanes, 0));
    assertEquals("none", next(lanes, 0));
  }

  @Test
  void aLaneWithNothingLeftHelpsWhereMuchIsLeft() {
    Lanes lanes = lanes(Map.of("A", 9.0, "B", 3.0, "C", 3.0, "D", 1.0));
    lanes.add(pass("one"), classes("A", "B", "C", "D"));

    assertEquals("one:A", next(lanes, 0));
    assertEquals("one:B", next(lanes, 1));
    assertEquals("one:C", next(lanes, 1));
    // A process that would have to be started is not worth the second that is left.
    assertEquals("none", next(lanes, 2));
    assertEquals("one:D", next(lanes, 0));
  }

  @Test
  void whatNobodyKnowsTheTimeOfRunsToo() {
    Lanes lanes = lanes(Map.of());
    lanes.add(pass("one"), classes("A", "B"));
    lanes.add(pass("none"), classes());

    assertEquals("one:A", next(lanes, 0));
    assertEquals("none", next(lanes, 1));
    assertEquals("one:B", next(lanes, 0));
    assertEquals("none", next(lanes, 0));
  }
}
