package org.jofi.verbsdouble;

import java.io.IOException;
import java.util.stream.Stream;
import org.jofi.nicdouble.Facts;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What docs/PROVIDERS.md says of verbs below ofi_rxm: each probe of verbs-facts, on the real ones.
 */
@Tag("libfabric")
@Tag("long")
@Execution(ExecutionMode.SAME_THREAD)
class FactsTest {
  @TestFactory
  Stream<DynamicTest> ofVerbs() throws IOException, InterruptedException {
    return new Facts(() -> VerbsDouble.devices(1), "verbs-facts").tests();
  }
}
