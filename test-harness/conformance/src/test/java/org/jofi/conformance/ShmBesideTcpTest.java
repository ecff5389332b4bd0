package org.jofi.conformance;

import java.util.List;
import org.jofi.conformance.rule.Case;

/** In the short run, the rules that tcp does not claim and shm does. */
class ShmBesideTcpTest extends LibfabricSuite {
  @Override
  protected String subject() {
    return "shm";
  }

  @Override
  protected List<Case> cases() {
    return List.of(
        Cases.named("messages/directed"),
        Cases.named("ordering/write-after-read"),
        Cases.named("eagain/nothing-posted"),
        Cases.named("eagain/retry"));
  }

  @Override
  protected int notClaimed() {
    return 0;
  }
}
