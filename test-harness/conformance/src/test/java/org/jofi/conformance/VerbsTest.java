package org.jofi.conformance;

import java.util.Map;
import java.util.stream.Stream;
import org.jofi.verbsdouble.VerbsDouble;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

/**
 * libfabric's verbs provider under its layer of reliable datagrams, on adapters without hardware,
 * whose own rules are tests as well.
 */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VerbsTest extends LibfabricSuite {
  private static final int NOT_CLAIMED = 17;

  private final VerbsDouble verbs = VerbsDouble.devices(2);

  @AfterAll
  void forget() {
    verbs.close();
  }

  @Override
  protected String subject() {
    return "verbs;ofi_rxm";
  }

  @Override
  protected int notClaimed() {
    return NOT_CLAIMED;
  }

  @Override
  protected Map<String, String> environment() {
    return verbs.environment();
  }

  @Override
  protected Stream<DynamicNode> afterwards() {
    return Stream.of(DynamicTest.dynamicTest("rules of the adapter", verbs::demandNoViolations));
  }
}
