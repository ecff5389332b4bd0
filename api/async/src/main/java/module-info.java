/**
 * Futures of requests, for programs that have many threads: a driver's own thread uses the
 * communicators, and any other thread, a virtual one included, submits to it and waits parked.
 */
module org.jofi.async {
  requires static org.jspecify;
  requires transitive org.jofi.transport;

  exports org.jofi.async;
}
