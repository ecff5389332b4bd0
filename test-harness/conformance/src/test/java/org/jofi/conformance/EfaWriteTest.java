package org.jofi.conformance;

/** Devices that write, also with immediate data. libfabric 1.17 makes no use of that. */
class EfaWriteTest extends EfaSuite {
  EfaWriteTest() {
    super("efa", "write");
  }
}
