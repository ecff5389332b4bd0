package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** JFR: the cache closed a registration; its duration is the time spent in the provider. */
@Name("org.jofi.mr.RegistrationClosed")
@Label("Cached Registration Closed")
@Description("The registration cache closed a registration, and why")
@Category({"jofi", "Registrations"})
@Threshold("1 ms")
@StackTrace(false)
public final class RegistrationClosedEvent extends Event {
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

  private RegistrationClosedEvent() {}

  static RegistrationClosedEvent begun() {
    RegistrationClosedEvent event = new RegistrationClosedEvent();
    event.begin();
    return event;
  }

  /**
   * Ends it: the registration is closed.
   *
   * @param reason why
   * @param kind the kind of memory
   * @param address where the memory begins
   * @param lengthBytes its length in bytes
   * @param generation which of its scopes, counted
   */
  public void commit(String reason, String kind, long address, long lengthBytes, long generation) {
    end();
    if (!shouldCommit()) {
      return;
    }
    this.reason = reason;
    this.kind = kind;
    this.address = address;
    this.lengthBytes = lengthBytes;
    this.generation = generation;
    commit();
  }
}
