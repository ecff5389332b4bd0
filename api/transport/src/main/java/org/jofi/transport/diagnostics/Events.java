package org.jofi.transport.diagnostics;

import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Events of the JDK's flight recorder. Any thread may tell them, with locks held.
 *
 * <p>As long as nobody has recorded in this process, a call checks one static flag, and nothing
 * more of JFR is loaded: its first event would start all of it. Events of what lasts are begun and
 * ended; where nobody records, there is none to end.
 */
public final class Events {
  private Events() {}

  private static boolean areRecorded() {
    return FlightRecorder.isInitialized();
  }

  /**
   * Memory begins to be registered.
   *
   * @return the event, to be committed by whoever began it; null if nobody records
   */
  public static @Nullable RegistrationEvent registration() {
    return areRecorded() ? RegistrationEvent.begun() : null;
  }

  /**
   * The cache begins to close a registration.
   *
   * @return the event, to be committed by whoever began it; null if nobody records
   */
  public static @Nullable RegistrationClosedEvent registrationClosed() {
    return areRecorded() ? RegistrationClosedEvent.begun() : null;
  }

  /**
   * A connection begins to be made, or was made.
   *
   * @return the event, to be committed by whoever began it; null if nobody records
   */
  public static @Nullable ConnectionEvent connection() {
    return areRecorded() ? ConnectionEvent.begun() : null;
  }

  /**
   * A thread begins to wait.
   *
   * @return the event, to be committed by whoever began it; null if nobody records
   */
  public static @Nullable StallEvent stall() {
    return areRecorded() ? StallEvent.begun() : null;
  }

  /**
   * A thread waited.
   *
   * @param begun what {@link #stall} returned
   * @param who whose wait it was
   * @param what what it waited for
   */
  public static void waited(@Nullable StallEvent begun, String who, String what) {
    if (begun != null) {
      begun.commit(who, what);
    }
  }

  /**
   * A connection was made, or was not.
   *
   * @param begun what {@link #connection} returned; null for an event of this moment
   * @param device the device, or the endpoint
   * @param role connect or accept
   * @param label the communicator; empty if there is none
   * @param peer whom this side connects to; empty if it is not known
   * @param rails how many data rails the device has
   * @param outcome connected, accepted, refused, failed or cancelled
   * @param cause why not; empty if it was made
   */
  public static void connected(
      @Nullable ConnectionEvent begun,
      String device,
      String role,
      String label,
      String peer,
      int rails,
      String outcome,
      String cause) {
    ConnectionEvent event = begun == null ? connection() : begun;
    if (event != null) {
      event.commit(device, role, label, peer, rails, outcome, cause);
    }
  }

  /**
   * Whether requests that are slow are recorded, for which each has to be timed.
   *
   * @return false unless somebody enabled that event
   */
  public static boolean areSlowRequestsRecorded() {
    return areRecorded() && SlowRequestEvent.isOn();
  }

  /**
   * A communicator failed.
   *
   * @param label the communicator
   * @param cause the name of the failure's cause
   * @param errno the fabric's error, positive; 0 if no fabric call failed
   * @param where where it failed
   * @param detail what else is known
   * @param inFlight how many of its messages were in flight
   */
  public static void communicatorFailed(
      String label, String cause, int errno, String where, String detail, int inFlight) {
    if (areRecorded()) {
      CommunicatorFailedEvent.commit(label, cause, errno, where, detail, inFlight);
    }
  }

  /**
   * A caller learned that a request failed.
   *
   * @param label the communicator
   * @param kind send, receive, one-sided or flush
   * @param tag its tag; 0 if it has none
   * @param bytes how much it was to move; -1 if it never began
   * @param cause the name of the failure's cause
   * @param errno the fabric's error, positive; 0 if no fabric call failed
   * @param where where it failed
   */
  public static void requestFailed(
      String label, String kind, int tag, long bytes, String cause, int errno, String where) {
    if (areRecorded()) {
      RequestFailedEvent.commit(label, kind, tag, bytes, cause, errno, where);
    }
  }

  /**
   * A rail came to be used for a peer, or not to be used any more.
   *
   * @param where endpoint, rail and peer
   * @param role what the rail carries
   * @param rail its number, 0 or more
   * @param nic its NIC
   * @param state what it is now
   * @param cause why it is not used; empty if it is
   * @param railsUp how many rails of that role to that peer are used now
   * @param rails how many there are
   */
  public static void railChanged(
      String where,
      String role,
      int rail,
      String nic,
      String state,
      String cause,
      int railsUp,
      int rails) {
    if (areRecorded()) {
      RailChangeEvent.commit(where, role, rail, nic, state, cause, railsUp, rails);
    }
  }

  /**
   * A rail is given up for all peers.
   *
   * @param label the endpoint and the rail
   * @param rail its number, 0 or more
   * @param nic its NIC
   * @param forGood false if another endpoint is to be opened in its place
   * @param errno the fabric's error, positive; 0 if no fabric call failed
   * @param reason why
   */
  public static void railGivenUp(
      String label, int rail, String nic, boolean forGood, int errno, String reason) {
    if (areRecorded()) {
      RailGivenUpEvent.commit(label, rail, nic, forGood, errno, reason);
    }
  }

  /**
   * A stripe was posted again.
   *
   * @param operation the call that posted it
   * @param from the rail over which it failed
   * @param to the rail over which it goes now
   * @param bytes its length
   */
  public static void stripeRepeated(String operation, String from, String to, long bytes) {
    if (areRecorded()) {
      StripeRepeatedEvent.commit(operation, from, to, bytes);
    }
  }
}
