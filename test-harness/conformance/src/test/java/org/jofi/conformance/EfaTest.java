package org.jofi.conformance;

import org.junit.jupiter.api.Tag;

/**
 * The newest devices whose abilities the provider uses: libfabric 1.17 reads, and makes no use of
 * writes; 2.1 writes, also with immediate data.
 */
@Tag("long")
class EfaTest extends EfaSuite {
  EfaTest() {
    super("efa", isOfOld() ? "read" : "write");
  }
}
