package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** JFR: a communicator failed. */
@Name("org.jofi.CommunicatorFailed")
@Label("Communicator Failed")
@Description("A communicator failed: nothing more is sent or received over it")
@Category({"jofi", "Connections"})
@StackTrace(false)
final class CommunicatorFailedEvent extends Event {
  @Label("Communicator")
  String label = "";

  @Label("Cause")
  String cause = "";

  @Label("Errno")
  int errno;

  @Label("Where")
  String where = "";

  @Label("Detail")
  String detail = "";

  @Label("Messages in Flight")
  int inFlight;

  private CommunicatorFailedEvent() {}

  static void commit(
      String label, String cause, int errno, String where, String detail, int inFlight) {
    CommunicatorFailedEvent event = new CommunicatorFailedEvent();
    if (!event.shouldCommit()) {
      return;
    }
    event.label = label;
    event.cause = cause;
    event.errno = errno;
    event.where = where;
    event.detail = detail;
    event.inFlight = inFlight;
    event.commit();
  }
}
