package org.jofi.conformance;

class LibfabricShmTest extends LibfabricSuite {
  @Override
  protected String subject() {
    return "shm";
  }

  @Override
  protected int notClaimed() {
    return 16;
  }
}
