package org.jofi.conformance;

import java.util.Map;
import java.util.stream.Stream;
import org.jofi.efadouble.EfaDouble;
import org.jofi.efadouble.Option;
import org.jofi.fabric.FabricProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestInstance;

/** libfabric's efa provider, on devices without hardware, whose own rules are tests as well. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class EfaSuite extends LibfabricSuite {
  private static final int NOT_CLAIMED = 20;

  private final EfaDouble efa = EfaDouble.devices(2);
  private final String subject;

  /**
   * @param subject the provider's name
   * @param generation what the devices can do without the peer's processor
   */
  EfaSuite(String subject, String generation) {
    this.subject = subject;
    efa.with(Option.GENERATION, generation);
  }

  /** Chooses something of the devices. */
  final void with(Option option, Object value) {
    efa.with(option, value);
  }

  /** Whether the libfabric under test is of those versions. */
  static boolean isOfOld() {
    return FabricProvider.named("libfabric").version().startsWith("libfabric 1.");
  }

  @AfterAll
  void forget() {
    efa.close();
  }

  @Override
  protected String subject() {
    return subject;
  }

  @Override
  protected int notClaimed() {
    return NOT_CLAIMED;
  }

  @Override
  protected Map<String, String> environment() {
    return efa.environment();
  }

  @Override
  protected Stream<DynamicNode> afterwards() {
    return Stream.of(DynamicTest.dynamicTest("rules of the device", efa::demandNoViolations));
  }
}
