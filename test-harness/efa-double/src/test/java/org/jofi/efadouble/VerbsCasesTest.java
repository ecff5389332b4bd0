package org.jofi.efadouble;

import java.io.IOException;
import java.util.stream.Stream;
import org.jofi.nicdouble.Cases;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The devices as programs in C see them. */
class VerbsCasesTest {
  @TestFactory
  Stream<DynamicTest> cases() throws IOException, InterruptedException {
    return Cases.of(() -> EfaDouble.devices(1));
  }
}
