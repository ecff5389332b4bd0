package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterScope;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.nic.RailQueue;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.junit.jupiter.api.Test;

/** How much room the completion queue of a NIC has. */
class QueueCapacityTest {
  private static final int ENTRIES = 8_192;
  private static final int SLOTS = 1_024;

  private static final ArrivalSink NOBODY =
      new ArrivalSink() {
        @Override
        public void immediate(long data) {
          throw new AssertionError("nothing arrives");
        }

        @Override
        public void message(MemorySegment memory, long lengthBytes) {
          throw new AssertionError("nothing arrives");
        }

        @Override
        public void broken(Failure why) {
          throw new AssertionError(why.toString());
        }
      };

  private int depth;

  /** The depth that is asked for over a NIC of that profile. */
  private int asked(Simulation simulation, FabricInfo info) {
    FabricProvider provider =
        AlteredProvider.of(
            simulation.host(0).provider(),
            (call, arguments, real) -> {
              if (call.getName().equals("openCompletionQueue")) {
                depth = (int) arguments[0];
              }
              return real.call();
            });
    try (var fabric = provider.open(info);
        var domain = fabric.openDomain()) {
      new RailQueue(
              "queue", domain, ENTRIES, SLOTS, NOBODY, CounterBlock.unshared(CounterScope.RAIL))
          .queue()
          .close();
    }
    return depth;
  }

  private static FabricInfo first(Simulation simulation) {
    return simulation.host(0).provider().discover(FabricHints.any()).getFirst();
  }

  /** Its queue pairs may fail, and complete at once all that they hold, of both roles. */
  @Test
  void thatOfHardwareTakesAllThatItsEndpointsHold() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
      FabricInfo info = first(simulation);
      int held = 2 * (info.limits().transmitDepth() + info.limits().receiveDepth());
      int own = RailQueue.ownEntries(SLOTS);
      assertEquals(ENTRIES - own + Math.max(own, held), asked(simulation, info));
    }
  }

  @Test
  void thatOfSoftwareTakesWhatWasAskedFor() {
    try (Simulation simulation = Simulation.of(Profile.TCP).open()) {
      assertEquals(ENTRIES, asked(simulation, first(simulation)));
    }
  }
}
