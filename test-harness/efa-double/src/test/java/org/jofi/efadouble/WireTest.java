package org.jofi.efadouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What processes share is there while one of them lives, and no longer. */
@Timeout(120)
class WireTest {
  private static final Duration BOUND = Duration.ofSeconds(20);

  private final EfaDouble efa = EfaDouble.devices(1);
  private final List<Process> holders = new ArrayList<>();

  @AfterEach
  void endAll() throws InterruptedException {
    for (Process holder : holders) {
      holder.destroyForcibly().waitFor();
    }
    efa.close();
  }

  /** A process that has a device open, and sleeps. */
  private Process hold(EfaDouble some) throws IOException {
    Process holder =
        some.on(new ProcessBuilder(some.program("holder").toString()))
            .redirectErrorStream(true)
            .start();
    holders.add(holder);
    assertEquals("ready", holder.inputReader(StandardCharsets.UTF_8).readLine());
    assertTrue(Files.exists(some.wireFile()), "there is no wire with a process on it");
    return holder;
  }

  private static void await(String what, BooleanSupplier holds) {
    long deadline = System.nanoTime() + BOUND.toNanos();
    while (!holds.getAsBoolean()) {
      assertTrue(System.nanoTime() - deadline < 0, () -> "no end of waiting for " + what);
      Thread.onSpinWait();
    }
  }

  private static void end(Process holder, boolean kill) throws InterruptedException {
    if (kill) {
      holder.destroyForcibly();
    } else {
      holder.destroy();
    }
    assertTrue(holder.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS), "a holder outlives its end");
  }

  @Test
  void itIsGoneWithTheLastProcess() throws Exception {
    Process first = hold(efa);
    Process second = hold(efa);
    end(first, false);
    assertTrue(Files.exists(efa.wireFile()), "one still holds it");
    end(second, false);
    await("the wire to be gone", () -> Files.notExists(efa.wireFile()));
  }

  @Test
  void itIsGoneAlsoWhenTheLastProcessIsKilled() throws Exception {
    Process first = hold(efa);
    Process second = hold(efa);
    end(first, true);
    assertTrue(Files.exists(efa.wireFile()), "one still holds it");
    end(second, true);
    await("the wire to be gone", () -> Files.notExists(efa.wireFile()));
  }

  @Test
  void processesOfOtherWiresAreNotDisturbed() throws Exception {
    try (EfaDouble other = EfaDouble.devices(1)) {
      Process own = hold(efa);
      Process another = hold(other);
      end(own, true);
      await("the wire to be gone", () -> Files.notExists(efa.wireFile()));
      assertTrue(Files.exists(other.wireFile()), "the other's wire went with it");
      end(another, true);
      await("the other wire to be gone", () -> Files.notExists(other.wireFile()));
    }
  }

  @Test
  void itTellsWhatWentOverIt() throws Exception {
    hold(efa);
    String counters = efa.ask("status");
    assertTrue(counters.startsWith("sends 0 reads 0 writes 0 immediates 0 "), counters);
  }
}
