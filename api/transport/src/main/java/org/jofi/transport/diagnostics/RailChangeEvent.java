package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** JFR: a rail to a peer came to be used, or not to be used any more. */
@Name("org.jofi.rdma.RailChange")
@Label("Rail Change")
@Description("A rail to a peer came to be used, or not to be used any more, and why")
@Category({"jofi", "Rails"})
@StackTrace(false)
final class RailChangeEvent extends Event {
  @Label("Where")
  String where = "";

  @Label("Role")
  String role = "";

  @Label("Rail")
  int rail;

  @Label("NIC")
  String nic = "";

  @Label("State")
  String state = "";

  @Label("Cause")
  String cause = "";

  @Label("Rails Up")
  int railsUp;

  @Label("Rails")
  int rails;

  private RailChangeEvent() {}

  static void commit(
      String where,
      String role,
      int rail,
      String nic,
      String state,
      String cause,
      int railsUp,
      int rails) {
    RailChangeEvent event = new RailChangeEvent();
    if (!event.shouldCommit()) {
      return;
    }
    event.where = where;
    event.role = role;
    event.rail = rail;
    event.nic = nic;
    event.state = state;
    event.cause = cause;
    event.railsUp = railsUp;
    event.rails = rails;
    event.commit();
  }
}
