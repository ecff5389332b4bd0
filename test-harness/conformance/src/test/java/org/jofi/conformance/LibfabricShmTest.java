package org.jofi.conformance;

import org.jofi.fabric.FabricProvider;
import org.junit.jupiter.api.Tag;

@Tag("long")
class LibfabricShmTest extends LibfabricSuite {
  @Override
  protected String subject() {
    return "shm";
  }

  /** 1.17 writes at once, so that nothing is ever under way. */
  @Override
  protected int notClaimed() {
    return FabricProvider.named("libfabric").version().startsWith("libfabric 1.") ? 17 : 16;
  }
}
