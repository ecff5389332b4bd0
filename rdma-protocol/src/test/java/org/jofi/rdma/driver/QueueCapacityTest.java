package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.jofi.fabric.Domain;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
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
        public void message(MemorySegment memory, long at, long lengthBytes) {
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
    try (var fabric = simulation.host(0).provider().open(info);
        var domain = fabric.openDomain()) {
      Domain watched =
          (Domain)
              Proxy.newProxyInstance(
                  Domain.class.getClassLoader(),
                  new Class<?>[] {Domain.class},
                  (_, method, arguments) -> {
                    if (method.getName().equals("openCompletionQueue")) {
                      depth = (int) arguments[0];
                    }
                    try {
                      return method.invoke(domain, arguments);
                    } catch (InvocationTargetException thrown) {
                      throw thrown.getCause();
                    }
                  });
      RailQueue.open("queue", watched, ENTRIES, SLOTS, NOBODY).queue().close();
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
