package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;

/** JFR: a stripe failed, and was posted again. */
@Name("org.jofi.StripeRepeated")
@Label("Stripe Repeated")
@Description("A stripe failed, and was posted again")
@Category({"jofi", "Rails"})
@Throttle("100/s")
@StackTrace(false)
final class StripeRepeatedEvent extends Event {
  @Label("Operation")
  String operation = "";

  @Label("From Rail")
  String from = "";

  @Label("To Rail")
  String to = "";

  @Label("Length")
  @DataAmount
  long bytes;

  private StripeRepeatedEvent() {}

  static void commit(String operation, String from, String to, long bytes) {
    StripeRepeatedEvent event = new StripeRepeatedEvent();
    if (!event.shouldCommit()) {
      return;
    }
    event.operation = operation;
    event.from = from;
    event.to = to;
    event.bytes = bytes;
    event.commit();
  }
}
