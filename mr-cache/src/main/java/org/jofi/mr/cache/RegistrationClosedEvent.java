package org.jofi.mr.cache;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** JFR: the cache closed a registration; its duration is the time spent in the provider. */
@Name("org.jofi.mr.RegistrationClosed")
@Label("Cached Registration Closed")
@Description("The registration cache closed a registration, and why")
@Category({"jofi", "Registrations"})
@StackTrace(false)
final class RegistrationClosedEvent extends Event {
  @Label("Reason")
  String reason = "";

  @Label("Memory Kind")
  String kind = "";

  @Label("Address")
  long address;

  @Label("Length")
  @DataAmount
  long lengthBytes;

  @Label("Scope Generation")
  long generation;

  static RegistrationClosedEvent begun() {
    RegistrationClosedEvent event = new RegistrationClosedEvent();
    event.begin();
    return event;
  }

  void commit(CachedRegistration registration, CloseReason why) {
    end();
    if (!shouldCommit()) {
      return;
    }
    reason = why.name();
    kind = registration.range().kind().name();
    address = registration.range().address();
    lengthBytes = registration.range().lengthBytes();
    generation = registration.space().generation();
    commit();
  }
}
