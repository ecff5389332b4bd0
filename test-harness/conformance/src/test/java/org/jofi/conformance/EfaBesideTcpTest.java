package org.jofi.conformance;

import java.util.List;
import org.jofi.conformance.rule.Case;

/** In the short run, the rules that only efa claims, and what its devices change most about. */
class EfaBesideTcpTest extends EfaSuite {
  EfaBesideTcpTest() {
    super("efa", isOfOld() ? "read" : "write");
  }

  @Override
  protected List<Case> cases() {
    return List.of(
        Cases.named("keys/unique"),
        Cases.named("rma/write-lands"),
        Cases.named("rma/read"),
        Cases.named("messages/every-byte"),
        Cases.named("immediate/implies-data"));
  }

  @Override
  protected int notClaimed() {
    return 0;
  }
}
