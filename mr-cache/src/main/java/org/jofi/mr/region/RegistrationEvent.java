package org.jofi.mr.region;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jofi.mr.registration.BufferRange;

/** JFR: memory was registered; its duration is the time spent in the provider. */
@Name("org.jofi.mr.Registration")
@Label("Memory Registration")
@Description("Memory was registered on all rails of a role")
@Category({"jofi", "Registrations"})
@StackTrace(false)
final class RegistrationEvent extends Event {
  @Label("Role")
  String role = "";

  @Label("Memory Kind")
  String kind = "";

  @Label("Device")
  int device;

  @Label("Address")
  long address;

  @Label("Length")
  @DataAmount
  long lengthBytes;

  @Label("Rails")
  int rails;

  @Label("Scope Generation")
  long generation;

  static RegistrationEvent begun() {
    RegistrationEvent event = new RegistrationEvent();
    event.begin();
    return event;
  }

  void commit(RegistrationRole of, BufferRange range, int onRails, long inGeneration) {
    end();
    if (!shouldCommit()) {
      return;
    }
    role = of.toString();
    kind = range.kind().name();
    device = range.device();
    address = range.address();
    lengthBytes = range.lengthBytes();
    rails = onRails;
    generation = inGeneration;
    commit();
  }
}
