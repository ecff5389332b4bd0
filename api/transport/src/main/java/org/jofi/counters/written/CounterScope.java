package org.jofi.counters.written;

/** Of what there is one counter of a type. */
public enum CounterScope {
  /** One for each transport. */
  TRANSPORT("transport"),
  /** One for each endpoint of a device. */
  ENDPOINT("endpoint"),
  /** One for each rail of an endpoint. */
  RAIL("rail"),
  /**
   * One for each registration cache: a device has one, or, with progress threads, one for each
   * endpoint.
   */
  REGISTRATIONS("registration cache");

  private final String words;

  CounterScope(String words) {
    this.words = words;
  }

  /** {@return what it is called in texts} */
  public String words() {
    return words;
  }
}
