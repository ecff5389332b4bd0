package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RailChangesTest {
  private static final RailChange LOST = change(RailStatus.State.LOST, 3);
  private static final RailChange BACK = change(RailStatus.State.UP, 4);

  private static RailChange change(RailStatus.State state, int up) {
    return new RailChange(
        "endpoint 0 data rail 2, to peer 7",
        RailChange.Role.DATA,
        2,
        "eth2",
        state,
        state == RailStatus.State.UP
            ? Optional.empty()
            : Optional.of(new Failure(FailureCause.TIMED_OUT, 0, "rail 2", "silent for 3 ms")),
        up,
        4);
  }

  @Test
  void whoListensIsToldInOrderAndOnce() {
    List<RailChange> told = new ArrayList<>();
    RailChanges changes = new RailChanges(told::add);
    assertFalse(changes.isDue());
    changes.add(LOST);
    changes.add(BACK);
    assertTrue(changes.isDue());
    changes.tell();
    assertFalse(changes.isDue());
    changes.tell();
    assertEquals(List.of(LOST, BACK), told);
  }

  @Test
  void aListenerThatFailsIsToldTheNextAsWell() {
    List<RailChange> told = new ArrayList<>();
    RailChanges changes =
        new RailChanges(
            change -> {
              told.add(change);
              throw new IllegalStateException("on purpose");
            });
    changes.add(LOST);
    changes.add(BACK);
    changes.tell();
    assertEquals(List.of(LOST, BACK), told);
  }

  /** As if what it calls made progress and found another change. */
  @Test
  void aListenerIsNotCalledWithinItself() {
    List<String> told = new ArrayList<>();
    RailChanges[] self = new RailChanges[1];
    self[0] =
        new RailChanges(
            change -> {
              told.add("begin " + change.state());
              if (change.equals(LOST)) {
                self[0].add(BACK);
                self[0].tell();
              }
              told.add("end");
            });
    self[0].add(LOST);
    self[0].tell();
    assertEquals(List.of("begin LOST", "end", "begin UP", "end"), told);
  }

  @Test
  void flightRecordsShowThem(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("events.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("org.jofi.rdma.RailChange");
      recording.start();
      RailChanges changes = new RailChanges(change -> {});
      changes.add(LOST);
      changes.tell();
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertEquals(1, events.size());
    RecordedEvent event = events.getFirst();
    assertEquals(LOST.where(), event.getString("where"));
    assertEquals("LOST", event.getString("state"));
    assertEquals("TIMED_OUT: silent for 3 ms", event.getString("cause"));
    assertEquals(3, event.getInt("railsUp"));
  }

  @Test
  void aLineSaysWhereWhatAndWhy() {
    assertEquals(
        "endpoint 0 data rail 2, to peer 7 (eth2): is lost, and tried again from time to time:"
            + " silent for 3 ms; 3 of 4 data rails are up",
        LOST.toString());
    assertEquals(
        "endpoint 0 data rail 2, to peer 7 (eth2): is used again; 4 of 4 data rails are up",
        BACK.toString());
  }
}
