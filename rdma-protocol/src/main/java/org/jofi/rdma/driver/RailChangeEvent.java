package org.jofi.rdma.driver;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jofi.transport.RailChange;

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

  void commit(RailChange change) {
    if (!shouldCommit()) {
      return;
    }
    where = change.where();
    role = change.role().name();
    rail = change.rail();
    nic = change.nic();
    state = change.state().name();
    cause = change.cause().map(why -> why.cause() + ": " + why.detail()).orElse("");
    railsUp = change.railsUp();
    rails = change.rails();
    commit();
  }
}
