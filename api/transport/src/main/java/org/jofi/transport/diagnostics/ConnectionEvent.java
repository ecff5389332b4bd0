package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** JFR: a connection was made, refused or given up. */
@Name("org.jofi.Connection")
@Label("Connection")
@Description("A connection was made, refused or given up; its duration is that of the attempt")
@Category({"jofi", "Connections"})
@StackTrace(false)
public final class ConnectionEvent extends Event {
  @Label("Device")
  String device = "";

  @Label("Role")
  String role = "";

  @Label("Communicator")
  String label = "";

  @Label("Peer")
  String peer = "";

  @Label("Rails")
  int rails;

  @Label("Outcome")
  String outcome = "";

  @Label("Cause")
  String cause = "";

  private ConnectionEvent() {}

  static ConnectionEvent begun() {
    ConnectionEvent event = new ConnectionEvent();
    event.begin();
    return event;
  }

  /**
   * Ends it.
   *
   * @param device the device, or the endpoint
   * @param role connect or accept
   * @param label the communicator; empty if there is none
   * @param peer whom this side connects to; empty if it is not known
   * @param rails how many data rails the device has
   * @param outcome connected, accepted, refused, failed or cancelled
   * @param cause why not; empty if it was made
   */
  public void commit(
      String device,
      String role,
      String label,
      String peer,
      int rails,
      String outcome,
      String cause) {
    end();
    if (!shouldCommit()) {
      return;
    }
    this.device = device;
    this.role = role;
    this.label = label;
    this.peer = peer;
    this.rails = rails;
    this.outcome = outcome;
    this.cause = cause;
    commit();
  }
}
