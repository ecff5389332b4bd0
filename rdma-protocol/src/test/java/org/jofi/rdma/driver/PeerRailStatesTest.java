package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.rdma.driver.PeerRail.Event;
import org.jofi.rdma.driver.PeerRail.State;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;

/** The states of a rail to a peer: each event in each of them, and what that does to the rails. */
class PeerRailStatesTest {
  private static final Failure WHY = new Failure(FailureCause.FABRIC, 5, "a rail", "an event");
  private static final Failure EARLIER = new Failure(FailureCause.FABRIC, 6, "a rail", "before");

  /** As docs/PROTOCOL.md has it: a line for each state, in the order of the events. */
  private static final Map<State, List<State>> TABLE =
      new EnumMap<>(
          Map.of(
              State.UP, row("SUSPECT UP AWAY AWAY LOST UP CLOSED"),
              State.SUSPECT, row("SUSPECT UP AWAY AWAY LOST SUSPECT CLOSED"),
              State.AWAY, row("AWAY AWAY AWAY AWAY LOST UP CLOSED"),
              State.LOST, row("LOST LOST LOST LOST LOST UP CLOSED"),
              State.CLOSED, row("CLOSED CLOSED CLOSED CLOSED CLOSED CLOSED CLOSED")));

  private static List<State> row(String states) {
    return List.of(states.split(" ")).stream().map(State::valueOf).toList();
  }

  private static State after(State state, Event event) {
    return TABLE.get(state).get(List.of(Event.values()).indexOf(event));
  }

  @Test
  void everyEventInEveryStateIsInTheTable() {
    assertEquals(EnumSet.allOf(State.class), TABLE.keySet());
    for (State state : State.values()) {
      assertEquals(Event.values().length, TABLE.get(state).size());
      for (Event event : Event.values()) {
        assertEquals(after(state, event), state.after(event), state + ", " + event);
      }
    }
  }

  /** The picture has an arrow for each two states of which one follows the other, and no more. */
  @Test
  void thePageDrawsEachTransition() throws IOException {
    Path root = Path.of("").toAbsolutePath();
    while (root != null && !Files.exists(root.resolve("docs/PROTOCOL.md"))) {
      root = root.getParent();
    }
    assertNotNull(root, "docs/PROTOCOL.md is in no folder above");
    String page = Files.readString(root.resolve("docs/PROTOCOL.md"));
    Set<String> drawn = new TreeSet<>();
    Matcher arrow =
        Pattern.compile("^  (UP|SUSPECT|AWAY|LOST|CLOSED) --> (\\w+):", Pattern.MULTILINE)
            .matcher(
                page.substring(page.indexOf("`PeerRail.State`"), page.indexOf("`ReceiveWindow`")));
    while (arrow.find()) {
      drawn.add(arrow.group(1) + " " + arrow.group(2));
    }
    Set<String> there = new TreeSet<>();
    for (State state : State.values()) {
      for (Event event : Event.values()) {
        if (state.after(event) != state) {
          there.add(state + " " + state.after(event));
        }
      }
    }
    assertEquals(there, drawn);
  }

  /** The events that lead to each state from the beginning, as few as can be. */
  private static Map<State, List<Event>> ways() {
    Map<State, List<Event>> ways = new EnumMap<>(State.class);
    ways.put(State.UP, List.of());
    ArrayDeque<State> left = new ArrayDeque<>(Set.of(State.UP));
    while (!left.isEmpty()) {
      State from = left.removeFirst();
      for (Event event : Event.values()) {
        List<Event> way = new ArrayList<>(ways.get(from));
        way.add(event);
        if (ways.putIfAbsent(after(from, event), way) == null) {
          left.addLast(after(from, event));
        }
      }
    }
    return ways;
  }

  /** In a set of rails: which are used, why one is not, and whether the peer is lost. */
  @Test
  void theRailsFollowEachTransition() {
    Map<State, List<Event>> ways = ways();
    assertEquals(EnumSet.allOf(State.class), ways.keySet());
    for (State from : State.values()) {
      for (Event event : Event.values()) {
        try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
            Host left = new Host(simulation, 0, 2, 2);
            Host right = new Host(simulation, 1, 2, 2)) {
          PeerRails rails = left.endpoint.controlTo(right.endpoint.addresses());
          ways.get(from).forEach(before -> rails.change(1, before, EARLIER));
          assertSame(from, rails.rail(1).state());
          rails.change(1, event, WHY);
          check(rails, from, event);
        }
      }
    }
  }

  @Test
  void theRailsInUseHaveTheirTurns() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(3).open();
        Host left = new Host(simulation, 0, 3, 3);
        Host right = new Host(simulation, 1, 3, 3)) {
      PeerRails rails = left.endpoint.controlTo(right.endpoint.addresses());
      rails.lose(1, WHY);
      int[] turns = new int[4];
      Arrays.setAll(turns, _ -> rails.next());
      assertArrayEquals(new int[] {0, 2, 0, 2}, turns);
      rails.change(0, Event.RETIRED, WHY);
      rails.change(2, Event.FAILED, WHY);
      assertEquals(PeerRails.NONE, rails.next());
      assertTrue(rails.join(1));
      assertEquals(1, rails.next());
      assertEquals(1, rails.next());
    }
  }

  private static void check(PeerRails rails, State from, Event event) {
    String step = from + ", " + event;
    State to = after(from, event);
    assertSame(to, rails.rail(1).state(), step);
    boolean isUsable = to == State.UP || to == State.SUSPECT;
    assertEquals(isUsable, rails.isUsable(1), step);
    assertEquals(isUsable ? 0b11 : 0b01, rails.usable(), step);
    assertEquals(to == State.UP ? 0b11 : 0b01, rails.trusted(), step);
    assertEquals(to == State.AWAY, rails.mayReturn(), step);
    assertEquals(to == State.AWAY || to == State.LOST, rails.rail(1).mayReturn(), step);
    assertFalse(rails.isLost(), step);
    for (int turn = 0; turn < 2 * rails.count(); turn++) {
      assertTrue(rails.isUsable(rails.next()), step);
    }
    if (isUsable) {
      assertNull(rails.rail(1).cause(), step);
    } else {
      // What gave it up first is why it is not used.
      boolean isKept = from == to || from == State.LOST;
      assertSame(isKept ? EARLIER : WHY, rails.rail(1).cause(), step);
    }
    rails.change(0, Event.ENDED, WHY);
    assertEquals(!isUsable && to != State.AWAY, rails.isLost(), step);
    assertEquals(isUsable ? 0b10 : 0, rails.trusted(), step);
  }
}
