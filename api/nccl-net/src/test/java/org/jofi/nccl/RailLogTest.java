package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailStatus;
import org.junit.jupiter.api.Test;

class RailLogTest {
  private final List<String> said = new ArrayList<>();
  private final RailLog log =
      new RailLog(
          new PluginLog() {
            @Override
            public void warn(String message) {
              said.add("WARN " + message);
            }

            @Override
            public void info(String message) {
              said.add("INFO " + message);
            }
          });

  private void change(RailStatus.State state, int up) {
    log.changed(
        new RailChange(
            "endpoint 0 data rail 1, to peer 3",
            RailChange.Role.DATA,
            1,
            "eth1",
            state,
            state == RailStatus.State.UP
                ? Optional.empty()
                : Optional.of(new Failure(FailureCause.PEER_LOST, 5, "rail", "unreachable")),
            up,
            2));
  }

  @Test
  void whatIsLeftOutIsForWhoAsks() {
    log.leftOut("eth0+1: 1 of its 2 rails");
    assertEquals(List.of("INFO eth0+1: 1 of its 2 rails"), said);
  }

  @Test
  void whatSlowsNcclDownIsAWarning() {
    change(RailStatus.State.LOST, 1);
    change(RailStatus.State.UP, 2);
    change(RailStatus.State.LOST, 0);
    String where = " endpoint 0 data rail 1, to peer 3 (eth1): is ";
    assertEquals(
        List.of(
            "WARN"
                + where
                + "lost, and tried again from time to time: unreachable; 1 of 2 data"
                + " rails are up",
            "INFO" + where + "used again; 2 of 2 data rails are up",
            "INFO"
                + where
                + "lost, and tried again from time to time: unreachable; 0 of 2 data"
                + " rails are up"),
        said);
  }
}
