package org.jofi.conformance;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.FabricUnavailableException;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The devices without the provider's own protocol in between, as libfabric 2 offers them. */
class EfaDirectTest extends EfaSuite {
  EfaDirectTest() {
    super("efa-direct", "write");
  }

  @Override
  @TestFactory
  Stream<DynamicNode> rules() throws IOException, InterruptedException {
    return isOfOld()
        ? Stream.of(DynamicTest.dynamicTest("libfabric 1 has no such provider", this::isMissing))
        : super.rules();
  }

  /** It cancels nothing, keeps no order of messages, and tells nobody from whom they come. */
  @Override
  protected int notClaimed() {
    return 27;
  }

  private void isMissing() {
    ChildRunner runner =
        new ChildRunner(subject(), domain(), java(), properties()).withEnvironment(environment());
    List<Case> one = List.of(Cases.named("keys/unique"));
    assertThrows(FabricUnavailableException.class, () -> runner.run(one, result -> {}));
  }
}
