package org.jofi.conformance;

class LibfabricTcpTest extends LibfabricSuite {
  @Override
  protected String subject() {
    return "tcp";
  }

  @Override
  protected int notClaimed() {
    return 18;
  }
}
