package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.file.Path;
import java.util.List;
import org.jofi.fabric.FabricProvider;
import org.jofi.verbsdouble.Option;
import org.jofi.verbsdouble.VerbsDouble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The commands on InfiniBand adapters without hardware, on which the real provider of libfabric
 * runs. What takes the rest of the time is in the full run.
 */
@Tag("verbs")
@Timeout(300)
class VerbsCommandTest {
  @TempDir private Path folder;

  private NicCommands commands() {
    return new NicCommands(folder, "verbs;ofi_rxm");
  }

  @Test
  void sumsAreExact() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(1)) {
      commands().sumsAreExact(verbs, "4,64K", "-w", "0", "-k", "1");
    }
  }

  /** Receivers that are not ready, packets that get lost, all of it late. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  @Tag("long")
  void sumsAreExactOverMoreRails(int rails) throws Exception {
    try (VerbsDouble verbs = unfriendly(rails)) {
      commands().sumsAreExact(verbs);
    }
  }

  private static VerbsDouble unfriendly(int rails) {
    return VerbsDouble.devices(rails)
        .with(Option.SEED, 5)
        .with(Option.RNR, 10)
        .with(Option.LOSS, 3)
        .with(Option.DELAY_US, 100);
  }

  @Test
  @Tag("long")
  void collectivesAreExact() throws Exception {
    try (VerbsDouble verbs = unfriendly(2)) {
      commands().collectivesAreExact(verbs);
    }
  }

  @Test
  @Tag("long")
  void perfMeasures() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(1)) {
      commands().perfMeasures(verbs);
    }
  }

  @Test
  @Tag("long")
  void infoListsTheAdapters() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(4)) {
      commands().infoListsTheDevices(verbs);
    }
  }

  @Test
  @Tag("long")
  void theDoctorKnowsThatTheRegistrationCacheIsOff() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(1)) {
      // What else it finds is of this machine.
      CommandProcess.Outcome outcome = commands().run(verbs, List.of("doctor"));
      assertTrue(outcome.out().contains("pass  libfabric verbs;ofi_rxm: "), outcome.out());
      assertTrue(
          outcome.out().contains("pass  mr-cache: not set: jofi keeps its own registrations"),
          outcome.out());
      verbs.demandNoViolations();
    }
  }

  @Test
  @Tag("long")
  void ranksThatAreKilledComeBack() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(2)) {
      commands().soakHolds(verbs, "stop,kill");
    }
  }

  @Test
  @Tag("long")
  void gpusFormTheExactSums() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(2)) {
      commands().gpusFormTheExactSums(verbs, CudaStandIn.build(folder));
    }
  }

  @Test
  @Tag("long")
  void aRailThatComesBackIsUsedAgain() throws Exception {
    assumeFalse(
        FabricProvider.named("libfabric").version().startsWith("libfabric 1.17"),
        "before 1.19 a connection whose queue pair is in error stays as it is: docs/PROVIDERS.md");
    try (VerbsDouble verbs = VerbsDouble.devices(2)) {
      commands().aRailThatComesBackIsUsedAgain(verbs, 1);
    }
  }

  /** An adapter that fails amid the run ends it in time: right on the other, or with its cause. */
  @ParameterizedTest
  @ValueSource(strings = {"silent", "error", "gone"})
  @Tag("long")
  void aRailThatDiesEndsInTime(String how) throws Exception {
    try (VerbsDouble verbs =
        VerbsDouble.devices(2)
            .with(Option.FAULT, "1:%s:%d".formatted(how, NicCommands.AMID))
            .with(Option.TRACE, 1)) {
      commands().endsInTime(verbs, NicCommands.AMID);
    }
  }
}
