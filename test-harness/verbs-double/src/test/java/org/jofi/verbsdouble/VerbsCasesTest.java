package org.jofi.verbsdouble;

import java.io.IOException;
import java.util.stream.Stream;
import org.jofi.nicdouble.Cases;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The adapters as programs in C see them. */
class VerbsCasesTest {
  @TestFactory
  Stream<DynamicTest> cases() throws IOException, InterruptedException {
    return Cases.of(() -> VerbsDouble.devices(1));
  }
}
