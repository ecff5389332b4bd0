package org.jofi.conformance;

/** Devices that only send: whatever the provider writes or reads, it emulates with messages. */
class EfaSendTest extends EfaSuite {
  EfaSendTest() {
    super("efa", "send");
  }
}
