package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.jofi.efadouble.EfaDouble;
import org.jofi.efadouble.Option;
import org.jofi.fabric.FabricProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands on EFA devices without hardware, on which the real provider of libfabric runs. */
@Tag("efa")
@Timeout(300)
class EfaCommandTest {
  @TempDir private Path folder;

  private NicCommands commands() {
    return new NicCommands(folder, "efa");
  }

  @Test
  void sumsAreExact() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(2)) {
      commands().sumsAreExact(efa);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  @Tag("long")
  void sumsAreExactOverFewerAndMoreRails(int rails) throws Exception {
    try (EfaDouble efa = EfaDouble.devices(rails)) {
      commands().sumsAreExact(efa);
    }
  }

  static Stream<Arguments> otherDevices() {
    return Stream.of("send", "read", "write")
        .flatMap(
            generation ->
                Stream.of(0, 300).map(delayMicros -> Arguments.of(generation, delayMicros)));
  }

  /** Each generation of devices, in order and with requests that overtake each other. */
  @ParameterizedTest(name = "{0}, delays up to {1} us")
  @MethodSource("otherDevices")
  @Tag("long")
  void sumsAreExactOnOtherDevices(String generation, int delayMicros) throws Exception {
    try (EfaDouble efa =
        EfaDouble.devices(2)
            .with(Option.GENERATION, generation)
            .with(Option.SEED, 5)
            .with(Option.DELAY_US, delayMicros)) {
      commands().sumsAreExact(efa);
    }
  }

  /** All operations, between ranks as processes, with requests that overtake each other. */
  @Test
  @Tag("long")
  void collectivesAreExact() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(2).with(Option.SEED, 7).with(Option.DELAY_US, 300)) {
      commands().collectivesAreExact(efa);
    }
  }

  /** libfabric 2 has the devices without the provider's protocol as well; 1.17 says it has not. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  @Tag("long")
  void sumsAreExactWithoutTheProvidersProtocol(int rails) throws Exception {
    NicCommands direct = new NicCommands(folder, "efa-direct");
    try (EfaDouble efa = EfaDouble.devices(rails)) {
      if (FabricProvider.named("libfabric").version().startsWith("libfabric 1.")) {
        CommandProcess.Outcome outcome = direct.run(efa, direct.allReduce(efa, "4"));
        assertNotEquals(0, outcome.code(), outcome.out());
        assertTrue(outcome.err().contains("efa-direct"), outcome.err());
      } else {
        direct.sumsAreExact(efa);
      }
    }
  }

  /**
   * A device that fails amid the run ends it in time: right on the other one, or with its cause.
   * One that is mute never tells how anything ended, for which libfabric's close would wait for
   * ever.
   */
  @Test
  void aRailThatDiesEndsInTime() throws Exception {
    assertEndsInTime("error", NicCommands.AMID);
  }

  @ParameterizedTest
  @ValueSource(strings = {"silent", "mute"})
  @Tag("long")
  void aRailThatFallsSilentEndsInTime(String how) throws Exception {
    assertEndsInTime(how, NicCommands.AMID);
  }

  private void assertEndsInTime(String how, int requests) throws Exception {
    try (EfaDouble efa =
        EfaDouble.devices(2)
            .with(Option.FAULT, "1:%s:%d".formatted(how, requests))
            .with(Option.TRACE, 1)) {
      commands().endsInTime(efa, requests);
    }
  }

  /** A device that never worked: the ranks end with who waited for whom, or without it. */
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"silent", "error"})
  @Tag("long")
  void aRailThatIsDeadEndsInTime(String how) throws Exception {
    assertEndsInTime(how, 1);
  }

  @Test
  void perfMeasures() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(1)) {
      commands().perfMeasures(efa);
    }
  }

  @Test
  void infoListsTheDevices() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(4)) {
      commands().infoListsTheDevices(efa);
    }
  }

  @Test
  @Tag("long")
  void ranksThatAreKilledComeBack() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(2)) {
      commands().soakHolds(efa, "stop,kill");
    }
  }

  @Test
  @Tag("long")
  void gpusFormTheExactSums() throws Exception {
    try (EfaDouble efa = EfaDouble.devices(2)) {
      commands().gpusFormTheExactSums(efa, CudaStandIn.build(folder));
    }
  }
}
