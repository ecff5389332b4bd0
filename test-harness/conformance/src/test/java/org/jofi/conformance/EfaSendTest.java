package org.jofi.conformance;

import org.junit.jupiter.api.Tag;

/** Devices that only send: whatever the provider writes or reads, it emulates with messages. */
@Tag("long")
class EfaSendTest extends EfaSuite {
  EfaSendTest() {
    super("efa", "send");
  }
}
