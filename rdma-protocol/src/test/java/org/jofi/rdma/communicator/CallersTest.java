package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.SendComm;
import org.junit.jupiter.api.Test;

class CallersTest {

  /** Assertions are on in tests. */
  @Test
  void twoThreadsAtOnceAreTold() throws Exception {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 1, 1)) {
      Pair pair = hosts.connect();
      SendComm sender = pair.send();
      MemorySegment memory = hosts.memory(10, 1);
      RdmaComm comm = (RdmaComm) sender;
      Thread one = Thread.ofPlatform().name("one").unstarted(() -> sender.isend(memory, 1));
      try (var _ = comm.lock.rare()) {
        one.start();
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (isFree(comm.callers)) {
          assertTrue(System.nanoTime() - until < 0, "it waits for the endpoint's lock");
          // Seldom, since looking is a call that the other thread would run into.
          Thread.sleep(5);
        }
        AssertionError told = assertThrows(AssertionError.class, () -> sender.isend(memory, 1));
        assertTrue(String.valueOf(told.getMessage()).startsWith(comm.label()), told::getMessage);
        assertTrue(
            String.valueOf(told.getMessage()).contains("while Thread[#" + one.threadId() + ",one"),
            told::getMessage);
      }
      one.join(30_000);
      // One after the other may use it.
      assertEquals(10, hosts.await(pair.receive(), pair.receive().irecv(memory, 1)));
    }
  }

  private static boolean isFree(Callers callers) {
    try (var call = callers.call()) {
      return call != null;
    } catch (AssertionError called) {
      return false;
    }
  }
}
