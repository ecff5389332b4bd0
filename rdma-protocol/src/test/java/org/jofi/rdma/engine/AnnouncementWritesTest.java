package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;

/** How many writes it takes to announce receives. */
class AnnouncementWritesTest {
  private static final int GROUP = 8;

  /** The first has index 1, so that the last of 32 groups goes past the end. */
  @Test
  void aGroupTakesOneWriteAndTwoAtTheEndOfTheRing() {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.EFA).open()) {
      Exchange exchange = new Exchange(simulation, 1, 1, true);
      MemorySegment memory = arena.allocate(64, 64);
      DataRegistration[] to = new DataRegistration[GROUP];
      Arrays.fill(to, exchange.register(exchange.right, memory));
      long[] addresses = new long[GROUP];
      Arrays.fill(addresses, memory.address());
      for (int group = 1; group <= 32; group++) {
        long before = simulation.operations();
        assertTrue(receive(exchange, GROUP, addresses, to) > 0);
        exchange.progress();
        assertEquals(group < 32 ? 1 : 2, simulation.operations() - before, "group " + group);
      }
      assertEquals(256, exchange.receiver.inFlight());
      assertEquals(Result.TRY_AGAIN, receive(exchange, GROUP, addresses, to));
      for (int round = 0; exchange.sender.firstUnseen() <= 256; round++) {
        assertTrue(round < 10_000, "not there");
        exchange.progress();
        simulation.idle();
      }
      Failure why = new Failure(FailureCause.ABORTED, 0, "test", "");
      exchange.sender.abandon(why);
      exchange.receiver.abandon(why);
      exchange.close();
    }
  }

  /** The first leaves at once, and all that follow before the next poll leave with it. */
  @Test
  void aRowOfReceivesTakesTwoWrites() {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.EFA).open()) {
      Exchange exchange = new Exchange(simulation, 1, 1, true);
      MemorySegment memory = arena.allocate(64, 64);
      DataRegistration[] to = {exchange.register(exchange.right, memory)};
      long[] addresses = {memory.address()};
      long before = simulation.operations();
      for (int i = 0; i < 32; i++) {
        assertTrue(receive(exchange, 1, addresses, to) > 0);
        assertEquals(1, simulation.operations() - before, "receive " + i);
      }
      exchange.progress();
      assertEquals(2, simulation.operations() - before);
      assertTrue(receive(exchange, 1, addresses, to) > 0);
      exchange.progress();
      exchange.progress();
      assertEquals(3, simulation.operations() - before, "one more leaves with the next poll");
      assertTrue(receive(exchange, 1, addresses, to) > 0);
      assertEquals(4, simulation.operations() - before, "after a poll without any it is the first");
      Failure why = new Failure(FailureCause.ABORTED, 0, "test", "");
      exchange.receiver.abandon(why);
      exchange.close();
    }
  }

  private static long receive(
      Exchange exchange, int count, long[] addresses, DataRegistration[] to) {
    return Posting.receive(
        exchange.receiver, count, addresses, new long[GROUP], new int[GROUP], to);
  }
}
