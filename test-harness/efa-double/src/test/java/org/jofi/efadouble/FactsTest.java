package org.jofi.efadouble;

import java.io.IOException;
import java.util.stream.Stream;
import org.jofi.nicdouble.Facts;
import org.jofi.nicdouble.NewerLibrary;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What docs/PROVIDERS.md says of efa and efa-direct: each probe of efa-facts, on the real provider.
 */
@Tag("libfabric")
@Tag("long")
@Execution(ExecutionMode.SAME_THREAD)
class FactsTest {
  private final Facts facts = new Facts(() -> EfaDouble.devices(1), "efa-facts");

  @TestFactory
  Stream<DynamicTest> ofEfa() throws IOException, InterruptedException {
    return facts.tests("--fabric", "efa");
  }

  /** libfabric 1 has none, which each probe finds out by asking for it. */
  @TestFactory
  Stream<DynamicTest> ofEfaDirect() throws IOException, InterruptedException {
    return facts
        .tests("--fabric", "efa-direct")
        .limit(NewerLibrary.isUnderTest() ? Integer.MAX_VALUE : 1);
  }
}
