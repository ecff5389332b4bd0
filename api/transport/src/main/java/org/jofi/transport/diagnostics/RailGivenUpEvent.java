package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** JFR: a rail is given up for all peers; of one peer, {@link RailChangeEvent} tells. */
@Name("org.jofi.RailGivenUp")
@Label("Rail Given Up")
@Description("A rail is not used for any peer: its endpoint closes, or its completion queue broke")
@Category({"jofi", "Rails"})
@StackTrace(false)
final class RailGivenUpEvent extends Event {
  @Label("Where")
  String label = "";

  @Label("Rail")
  int rail;

  @Label("NIC")
  String nic = "";

  @Label("For Good")
  boolean forGood;

  @Label("Errno")
  int errno;

  @Label("Reason")
  String reason = "";

  private RailGivenUpEvent() {}

  static void commit(
      String label, int rail, String nic, boolean forGood, int errno, String reason) {
    RailGivenUpEvent event = new RailGivenUpEvent();
    if (!event.shouldCommit()) {
      return;
    }
    event.label = label;
    event.rail = rail;
    event.nic = nic;
    event.forGood = forGood;
    event.errno = errno;
    event.reason = reason;
    event.commit();
  }
}
