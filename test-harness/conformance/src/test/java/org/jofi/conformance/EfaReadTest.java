package org.jofi.conformance;

/** Devices that read, as the first with RDMA did. */
class EfaReadTest extends EfaSuite {
  EfaReadTest() {
    super("efa", "read");
  }
}
