package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.mr.teardown.TeardownException;

/** Whatever depends on whatever, everything closes after what must close before it. */
class OwnershipGraphProperties {
  private static final int THINGS = 8;

  /** A thing that knows the order it was closed in, and may refuse. */
  private static final class Thing implements OwnershipGraph.Forcible {
    final int number;
    final List<Integer> closed;
    boolean refuses;
    boolean forced;

    Thing(int number, List<Integer> closed) {
      this.number = number;
      this.closed = closed;
    }

    @Override
    public void close() {
      if (refuses) {
        throw new IllegalStateException("thing " + number + " refuses");
      }
      closed.add(number);
    }

    @Override
    public void closeRegardless() {
      forced = true;
      close();
    }
  }

  @Property(tries = 1000)
  void closesInOrder(
      @ForAll @Size(max = 20) List<@IntRange(min = 0, max = 63) Integer> edges,
      @ForAll Set<@IntRange(min = 0, max = 7) Integer> refusing,
      @ForAll Set<@IntRange(min = 0, max = 7) Integer> foreign,
      @ForAll boolean regardless) {
    List<Integer> closed = new ArrayList<>();
    List<Thing> things = new ArrayList<>();
    OwnershipGraph graph = new OwnershipGraph();
    for (int i = 0; i < THINGS; i++) {
      things.add(new Thing(i, closed));
      things.get(i).refuses = refusing.contains(i);
    }
    boolean[][] before = new boolean[THINGS][THINGS];
    for (int edge : edges) {
      // From the larger number to the smaller: without circles, and against the order of adding.
      int first = Math.max(edge / THINGS, edge % THINGS);
      int then = Math.min(edge / THINGS, edge % THINGS);
      if (first != then) {
        graph.closesBefore(things.get(first), things.get(then));
        before[first][then] = true;
      }
    }
    for (int i = 0; i < THINGS; i++) {
      if (!foreign.contains(i)) {
        graph.own(things.get(i), "thing " + i);
      }
    }
    Set<Integer> stuck = stuck(before, refusing, foreign);
    if (stuck.isEmpty()) {
      graph.close(regardless);
    } else {
      TeardownException left = assertThrows(TeardownException.class, () -> graph.close(regardless));
      stuck.forEach(i -> assertTrue(left.getMessage().contains("thing " + i)));
      assertEquals(stuck.size(), graph.open().size());
    }
    assertEquals(THINGS - foreign.size() - stuck.size(), closed.size());
    things.forEach(thing -> thing.refuses = false);
    graph.close(regardless);
    graph.close(regardless);
    assertEquals(THINGS - foreign.size(), closed.size(), "each closed once");
    for (int first = 0; first < THINGS; first++) {
      for (int then = 0; then < THINGS; then++) {
        if (before[first][then] && closed.contains(first) && closed.contains(then)) {
          assertTrue(closed.indexOf(first) < closed.indexOf(then), () -> "order was " + closed);
        }
      }
    }
    things.stream()
        .filter(thing -> closed.contains(thing.number))
        .forEach(thing -> assertEquals(regardless, thing.forced));
  }

  /** Those that refuse, and those that wait for them. */
  private static Set<Integer> stuck(
      boolean[][] before, Set<Integer> refusing, Set<Integer> foreign) {
    Set<Integer> stuck = new java.util.TreeSet<>();
    for (int i = THINGS - 1; i >= 0; i--) {
      boolean waits = refusing.contains(i);
      for (int first : stuck) {
        waits |= before[first][i];
      }
      if (waits && !foreign.contains(i)) {
        stuck.add(i);
      }
    }
    return stuck;
  }

  @Property(tries = 1000)
  void aCircleClosesNothing(@ForAll @IntRange(min = 2, max = THINGS) int length) {
    List<Integer> closed = new ArrayList<>();
    OwnershipGraph graph = new OwnershipGraph();
    List<Thing> things = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      things.add(new Thing(i, closed));
      graph.own(things.get(i), "thing " + i);
    }
    for (int i = 0; i < length; i++) {
      graph.closesBefore(things.get(i), things.get((i + 1) % length));
    }
    assertThrows(IllegalStateException.class, () -> graph.close(false));
    assertTrue(closed.isEmpty());
  }
}
