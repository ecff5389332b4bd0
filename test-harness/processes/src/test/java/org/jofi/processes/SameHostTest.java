package org.jofi.processes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.efadouble.EfaDouble;
import org.jofi.efadouble.Option;
import org.jofi.processes.ProcessPair.Compilation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two processes of one host, where libfabric's efa provider would go through shared memory: what
 * they move goes through the NIC all the same, and a flush does, or fails and says why.
 */
@Tag("libfabric-2.1")
class SameHostTest {
  private static final long BOUND_SECONDS = 120;
  private static final Pattern READS = Pattern.compile("reads (\\d+) .* bytes (\\d+) ");

  /**
   * Libfabric has the option that forbids shared memory since 1.21, and the variable always: older
   * ones fail without it.
   */
  static Stream<Arguments> whatDiffers() {
    return (Providers.isOfOld() ? Stream.of("0", "1") : Stream.of("1"))
        .map(shared -> Arguments.of("efa", shared));
  }

  static Stream<Arguments> others() {
    Set<List<Object>> those =
        whatDiffers().map(run -> List.of(run.get())).collect(Collectors.toSet());
    return Providers.ofEfa().stream()
        .flatMap(provider -> Stream.of("0", "1").map(shared -> Arguments.of(provider, shared)))
        .filter(run -> !those.contains(List.of(run.get())));
  }

  @ParameterizedTest(name = "{0}, FI_EFA_ENABLE_SHM_TRANSFER={1}")
  @MethodSource("whatDiffers")
  void aFlushIsReadByTheDeviceOrFails(String provider, String shared) throws Exception {
    run(provider, shared);
  }

  @ParameterizedTest(name = "{0}, FI_EFA_ENABLE_SHM_TRANSFER={1}", allowZeroInvocations = true)
  @MethodSource("others")
  @Tag("long")
  void soItIsWithTheOthers(String provider, String shared) throws Exception {
    run(provider, shared);
  }

  private static void run(String provider, String shared) throws Exception {
    try (EfaDouble efa = EfaDouble.devices(SameHostMain.RAILS).with(Option.NODE, 1)) {
      Map<String, String> environment = new HashMap<>(efa.environment());
      environment.put("FI_EFA_ENABLE_SHM_TRANSFER", shared);
      Process holder = hold(efa);
      try (ProcessPair pair =
          new ProcessPair(SameHostMain.class, Compilation.QUICK, environment, List.of(provider))) {
        pair.await(BOUND_SECONDS);
        efa.demandNoViolations();
        List<String> flushed =
            pair.log().lines().filter(line -> line.contains(SameHostMain.FLUSHED)).toList();
        Matcher counters = READS.matcher(efa.ask("status"));
        assertTrue(counters.find());
        boolean mayShare = Providers.isOfOld() && shared.equals("1");
        assertEquals(2, flushed.size(), pair::log);
        for (String line : flushed) {
          if (mayShare) {
            assertTrue(
                line.contains("UNAVAILABLE") && line.contains("SHARED_MEMORY_PERMITTED"), line);
            assertTrue(pair.log().contains(SameHostMain.REASON + "cannot be flushed"), pair::log);
          } else {
            assertTrue(line.endsWith(SameHostMain.FLUSHED + SameHostMain.BYTES), line);
          }
        }
        if (!mayShare) {
          long reads = Long.parseLong(counters.group(1));
          long bytes = Long.parseLong(counters.group(2));
          assertTrue(
              reads >= 2L * SameHostMain.RAILS * SameHostMain.FLUSHES
                  && bytes >= 2L * SameHostMain.BYTES,
              () -> "of devices: " + counters.group() + "\n" + pair.log());
        }
      } finally {
        holder.destroyForcibly().waitFor(BOUND_SECONDS, TimeUnit.SECONDS);
      }
    }
  }

  /** Keeps the counters when both processes have ended. */
  private static Process hold(EfaDouble efa) throws IOException {
    ProcessBuilder holder =
        new ProcessBuilder(efa.program("efa-double-wire").toString(), efa.wire(), "hold");
    return efa.on(holder).start();
  }
}
