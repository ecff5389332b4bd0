package org.jofi.cli.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.rdma.RdmaTransport;
import org.jofi.runtime.Machine;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.transport.CommState;
import org.jofi.transport.Device;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections of ranks over the simulated fabric. */
@Timeout(120)
class RingLinksTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** What a rank does. */
  @FunctionalInterface
  private interface Program {
    void run(Ranks bootstrap, Device device, BoundedWait patience) throws Exception;
  }

  /** Runs it in each rank, and returns what they threw. */
  private static Queue<Throwable> run(int ranks, Program program) {
    SimulatedProvider network = new SimulatedProvider(Strictness.THROW, FaultPlan.none(), 1);
    TransportOptions options =
        TransportOptions.builder()
            .provider("simulated-efa")
            .connectTimeout(PATIENCE)
            .requestTimeout(PATIENCE)
            .build();
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    RankThreads.run(
        ranks,
        PATIENCE,
        placement -> {
          try (Ranks bootstrap =
                  Ranks.join(placement, JoinOptions.defaults().withSecret(""), PATIENCE);
              Transport transport = RdmaTransport.open(network, options, Machine.environment())) {
            program.run(
                bootstrap, transport.devices().getFirst(), new BoundedWait(bootstrap, PATIENCE));
          } catch (Throwable failure) {
            failures.add(failure);
          }
          return 0;
        });
    assertEquals(List.of(), network.violations());
    return failures;
  }

  /** Each sends its rank to the next one. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void neighboursAreWhoTheyAreSaidToBe(int ranks) {
    Queue<Throwable> failures =
        run(
            ranks,
            (bootstrap, device, patience) -> {
              RingLinks links = RingLinks.connect(bootstrap, device, patience);
              assertEquals(Math.floorMod(bootstrap.rank() - 1, ranks), exchange(links));
              links.gather(new byte[0]);
              links.close();
              assertEquals(CommState.CLOSED, links.toNext().state());
              assertEquals(CommState.CLOSED, links.fromPrevious().state());
            });
    assertEquals(List.of(), List.copyOf(failures));
  }

  private static int exchange(RingLinks links) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
      out.set(ValueLayout.JAVA_INT, 0, links.ranks().rank());
      MemorySegment in = arena.allocate(ValueLayout.JAVA_INT);
      var sent = links.toNext().register(out, Use.SEND);
      var received = links.fromPrevious().register(in, Use.RECEIVE);
      long receive = links.fromPrevious().irecv(received, 3);
      long send = links.toNext().isend(sent, 3);
      links.patience().await(links.toNext(), send, "sending");
      links.patience().await(links.fromPrevious(), receive, "receiving");
      sent.close();
      received.close();
      return in.get(ValueLayout.JAVA_INT, 0);
    }
  }

  /** One of the connections is never made; those that are do not keep the others from ending. */
  @Test
  void aRankThatFailsMeanwhileEndsTheOthers() {
    Queue<Throwable> failures =
        run(
            4,
            (bootstrap, device, patience) -> {
              if (bootstrap.rank() == 2) {
                try (PeerConnections mine = new PeerConnections()) {
                  bootstrap.gather(mine.listen(device), PATIENCE);
                  bootstrap.fail("no more");
                }
                return;
              }
              RingLinks.connect(bootstrap, device, patience);
            });
    assertEquals(3, failures.size(), failures::toString);
    for (Throwable failure : failures) {
      assertTrue(failure instanceof RanksException, failure::toString);
      assertTrue(failure.getMessage().contains("rank 2 failed: no more"), failure::toString);
    }
  }
}
