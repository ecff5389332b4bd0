package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;

/** JFR: a caller learned that a request failed. */
@Name("org.jofi.RequestFailed")
@Label("Request Failed")
@Description("A caller learned that a request failed")
@Category({"jofi", "Requests"})
@Throttle("100/s")
@StackTrace(false)
final class RequestFailedEvent extends Event {
  @Label("Communicator")
  String label = "";

  @Label("Kind")
  String kind = "";

  @Label("Tag")
  int tag;

  @Label("Length")
  @DataAmount
  long bytes;

  @Label("Cause")
  String cause = "";

  @Label("Errno")
  int errno;

  @Label("Where")
  String where = "";

  private RequestFailedEvent() {}

  static void commit(
      String label, String kind, int tag, long bytes, String cause, int errno, String where) {
    RequestFailedEvent event = new RequestFailedEvent();
    if (!event.shouldCommit()) {
      return;
    }
    event.label = label;
    event.kind = kind;
    event.tag = tag;
    event.bytes = bytes;
    event.cause = cause;
    event.errno = errno;
    event.where = where;
    event.commit();
  }
}
