package org.jofi.verbsdouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class VerbsDoubleTest {
  private static final Duration BOUND = Duration.ofSeconds(20);

  @Test
  void theEnvironmentHasWhatWasChosen() {
    try (VerbsDouble verbs = VerbsDouble.devices(2).with(Option.RNR, 7)) {
      assertEquals("2", verbs.environment().get("VERBS_DOUBLE_DEVICES"));
      assertEquals("7", verbs.environment().get("VERBS_DOUBLE_RNR"));
      assertEquals("pid", verbs.environment().get("VERBS_DOUBLE_NODE"));
      assertEquals(List.of("mlx5_0", "mlx5_1"), verbs.domains());
      assertFalse(verbs.environment().containsKey("EFA_DOUBLE_WIRE"));
    }
  }

  /** What it tells, while a process has it; and it goes with the last, however that ends. */
  @Test
  void theWireLivesAsLongAsItsProcesses() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(1)) {
      Process holder =
          verbs
              .on(new ProcessBuilder(verbs.program("holder").toString()))
              .redirectErrorStream(true)
              .start();
      try {
        assertEquals("ready", holder.inputReader(StandardCharsets.UTF_8).readLine());
        String counters = verbs.ask("status");
        assertTrue(counters.startsWith("sends 0 reads 0 writes 0 immediates 0 "), counters);
        assertTrue(counters.contains(" connects 0 rejects 0 disconnects 0"), counters);
      } finally {
        holder.destroyForcibly().waitFor();
      }
      long deadline = System.nanoTime() + BOUND.toNanos();
      while (Files.exists(verbs.wireFile())) {
        assertTrue(System.nanoTime() - deadline < 0, "the wire outlives its last process");
        LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
      }
    }
  }
}
