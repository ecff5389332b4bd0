package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** JFR: memory was registered; its duration is the time spent in the providers. */
@Name("org.jofi.mr.Registration")
@Label("Memory Registration")
@Description("Memory was registered on all rails of an endpoint or a device")
@Category({"jofi", "Registrations"})
@Threshold("1 ms")
@StackTrace(false)
public final class RegistrationEvent extends Event {
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

  private RegistrationEvent() {}

  static RegistrationEvent begun() {
    RegistrationEvent event = new RegistrationEvent();
    event.begin();
    return event;
  }

  /**
   * Ends it: the memory is registered.
   *
   * @param role what the memory is for
   * @param kind the kind of memory
   * @param device the GPU, or 0
   * @param address where the memory begins
   * @param lengthBytes its length in bytes
   * @param rails on how many rails
   * @param generation which of its scopes, counted
   */
  public void commit(
      String role,
      String kind,
      int device,
      long address,
      long lengthBytes,
      int rails,
      long generation) {
    end();
    if (!shouldCommit()) {
      return;
    }
    this.role = role;
    this.kind = kind;
    this.device = device;
    this.address = address;
    this.lengthBytes = lengthBytes;
    this.rails = rails;
    this.generation = generation;
    commit();
  }
}
