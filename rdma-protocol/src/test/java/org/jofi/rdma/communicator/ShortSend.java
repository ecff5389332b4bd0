package org.jofi.rdma.communicator;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.Callable;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Registration;
import org.jofi.transport.Use;

/** A message of 8 bytes after many others, and what is called for it. */
public final class ShortSend implements Callable<List<String>> {
  private static final int BYTES = 8;
  private static final int BEFORE = 100;

  @Override
  public List<String> call() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 1, 1)) {
      Pair pair = hosts.connect();
      MemorySegment memory = hosts.memory(2 * BYTES, 1);
      Registration from = pair.send().register(memory.asSlice(0, BYTES), Use.SEND);
      Registration into = pair.receive().register(memory.asSlice(BYTES), Use.RECEIVE);
      List<String> called = List.of();
      for (int message = 0; message <= BEFORE; message++) {
        long receive = pair.receive().irecv(into, 1);
        CallTrace.start();
        long send = pair.send().isend(from, 0, BYTES, 1);
        called = CallTrace.stop();
        hosts.await(pair.send(), send);
        hosts.await(pair.receive(), receive);
      }
      pair.send().close();
      pair.receive().close();
      from.close();
      into.close();
      return called;
    }
  }
}
