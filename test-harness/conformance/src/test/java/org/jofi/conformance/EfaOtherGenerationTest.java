package org.jofi.conformance;

import org.junit.jupiter.api.Tag;

/**
 * Devices that write, on a libfabric that makes no use of it; and that only read, on newer ones.
 */
@Tag("long")
class EfaOtherGenerationTest extends EfaSuite {
  EfaOtherGenerationTest() {
    super("efa", isOfOld() ? "write" : "read");
  }
}
