package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import org.jofi.counters.written.CounterType;
import org.jofi.fabric.MemoryKind;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.ReceiveGroup;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;

/** Device memory through transports: which way it takes, and that it arrives. */
class DeviceBuffersTest {
  private static final int BYTES = 3_000_001;
  private static final String STAGED = "staged through pinned host memory, 1 MiB chunks";

  private static MemorySegment device(SimulatedHosts hosts, int host, MemorySegment content) {
    MemorySegment memory =
        hosts.simulation.host(host).allocateDevice(MemoryKind.CUDA, content.byteSize());
    memory.copyFrom(content);
    return memory;
  }

  private static Registration register(Comm comm, MemorySegment memory, boolean onDevice) {
    return comm.register(
        onDevice
            ? Memory.device(MemoryKind.CUDA, 0, memory.address(), memory.byteSize())
            : Memory.of(memory),
        Use.SEND,
        Use.RECEIVE,
        Use.PEER_READS,
        Use.PEER_WRITES);
  }

  @Test
  void whatNoNicReachesIsStagedAtEitherEnd() {
    for (int ends = 1; ends <= 3; ends++) {
      boolean there = (ends & 1) != 0;
      boolean here = (ends & 2) != 0;
      try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, ends, 2)) {
        assertTrue(
            hosts.device(0).properties().memory().stream()
                .anyMatch(way -> way.kind() == MemoryKind.CUDA && way.path().equals(STAGED)));
        Pair pair = hosts.connect();
        MemorySegment content = hosts.memory(BYTES, 9);
        MemorySegment from = there ? device(hosts, 0, content) : content;
        MemorySegment blank = hosts.memory(BYTES, 10);
        MemorySegment to = here ? device(hosts, 1, blank) : blank;
        Registration source = register(pair.send(), from, there);
        Registration target = register(pair.receive(), to, here);
        assertEquals(there ? STAGED : "host", source.path());
        assertEquals(here ? STAGED : "host", target.path());
        for (int bytes : new int[] {BYTES, 1, 0, 70_000}) {
          long receive = pair.receive().irecv(target, 0, bytes, 3);
          long[] send = {Result.TRY_AGAIN};
          hosts.await("a send", () -> (send[0] = pair.send().isend(source, 0, bytes, 3)) > 0);
          assertEquals(bytes, hosts.await(pair.receive(), receive));
          assertEquals(bytes, hosts.await(pair.send(), send[0]));
          assertEquals(-1, to.asSlice(0, bytes).mismatch(from.asSlice(0, bytes)));
        }
        long staged = BYTES + 1 + 70_000;
        assertEquals(
            there ? staged : 0, EndpointCountersTest.all(pair.send(), CounterType.BYTES_STAGED));
        assertEquals(
            here ? staged : 0, EndpointCountersTest.all(pair.receive(), CounterType.BYTES_STAGED));
        if (here) {
          assertEquals(Result.NOTHING_TO_DO, pair.receive().iflush(target, 0, BYTES));
          assertTrue(pair.receive().flushReason(target).startsWith("not flushed: a staged"));
          assertThrows(IllegalStateException.class, target::remote);
          IllegalArgumentException grouped =
              assertThrows(
                  IllegalArgumentException.class,
                  () -> pair.receive().irecv(new ReceiveGroup().add(target, 0, 10, 1)));
          assertTrue(String.valueOf(grouped.getMessage()).contains("not in a group"));
        }
        target.close();
        source.close();
      }
    }
  }

  /** The copies that are left need no peer. */
  @Test
  void whatArrivedBeforeThePeerClosedSucceeds() {
    for (int bytes : new int[] {0, 1, 60_000, 900_000, BYTES}) {
      try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 11, 2)) {
        Pair pair = hosts.connect();
        MemorySegment from = hosts.memory(BYTES, 1);
        MemorySegment to = device(hosts, 1, hosts.memory(BYTES, 2));
        Registration target = register(pair.receive(), to, true);
        long receive = pair.receive().irecv(target, 0, bytes, 3);
        assertEquals(bytes, hosts.await(pair.send(), pair.send().isend(from, 0, bytes, 3)));
        pair.send().close();
        assertEquals(bytes, hosts.await(pair.receive(), receive));
        assertEquals(-1, to.asSlice(0, bytes).mismatch(from.asSlice(0, bytes)));
      }
    }
  }

  /** Nobody registers it: it is used for as long as the message lasts. */
  @Test
  void aPlainSegmentGoesIntoAStagedReceive() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 6, 2)) {
      Pair pair = hosts.connect();
      MemorySegment from = hosts.memory(BYTES, 1);
      MemorySegment to = device(hosts, 1, hosts.memory(BYTES, 2));
      Registration target = register(pair.receive(), to, true);
      long receive = pair.receive().irecv(target, 3);
      long send = pair.send().isend(from, 0, BYTES, 3);
      assertEquals(BYTES, hosts.await(pair.receive(), receive));
      assertEquals(BYTES, hosts.await(pair.send(), send));
      assertEquals(-1, to.mismatch(from));
    }
  }

  @Test
  void whatNicsTakeGoesDirectly() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 1, 2)) {
      Pair pair = hosts.connect();
      MemorySegment from = device(hosts, 0, hosts.memory(BYTES, 1));
      MemorySegment to = device(hosts, 1, hosts.memory(BYTES, 2));
      Registration source = register(pair.send(), from, true);
      Registration target = register(pair.receive(), to, true);
      assertEquals("GPU direct by address", source.path());
      long receive = pair.receive().irecv(target, 3);
      long[] send = {Result.TRY_AGAIN};
      hosts.await("a send", () -> (send[0] = pair.send().isend(source, 3)) > 0);
      assertEquals(BYTES, hosts.await(pair.receive(), receive));
      assertEquals(BYTES, hosts.await(pair.send(), send[0]));
      assertEquals(-1, to.mismatch(from));
      long flush = pair.receive().iflush(target, 0, BYTES);
      assertEquals(BYTES, hosts.await(pair.receive(), flush));
      assertEquals(1, EndpointCountersTest.all(pair.receive(), CounterType.FLUSHES));
    }
  }

  @Test
  void requiringGpuDirectNeverStages() {
    TransportException refused =
        assertThrows(
            TransportException.class,
            () -> new SimulatedHosts(Profile.TCP, 1, 1, options -> options.requireGpuDirect(true)));
    assertEquals(FailureCause.UNAVAILABLE, refused.failure().cause());
    assertTrue(String.valueOf(refused.getMessage()).contains("requireGpuDirect"));
  }

  @Test
  void aDeviceThatIsNotThereIsAnErrorWithWords() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 1, 1)) {
      Pair pair = hosts.connect();
      TransportException refused =
          assertThrows(
              TransportException.class,
              () -> pair.send().register(Memory.device(MemoryKind.CUDA, 7, 4096, 10), Use.SEND));
      assertEquals(FailureCause.UNAVAILABLE, refused.failure().cause());
      TransportException unknown =
          assertThrows(
              TransportException.class,
              () -> pair.send().register(Memory.device(MemoryKind.ROCM, 0, 4096, 10), Use.SEND));
      assertTrue(String.valueOf(unknown.getMessage()).contains("nothing here drives ROCM"));
    }
  }

  @Test
  void closingInTheMiddleLeavesNothing() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 5, 2)) {
      Pair pair = hosts.connect();
      MemorySegment from = device(hosts, 0, hosts.memory(20_000_000, 1));
      MemorySegment to = device(hosts, 1, hosts.memory(20_000_000, 2));
      Registration source = register(pair.send(), from, true);
      Registration target = register(pair.receive(), to, true);
      long receive = pair.receive().irecv(target, 3);
      long[] send = {Result.TRY_AGAIN};
      hosts.await("a send", () -> (send[0] = pair.send().isend(source, 3)) > 0);
      for (int i = 0; i < 50; i++) {
        hosts.tend();
        hosts.simulation.idle();
      }
      assertEquals(Result.IN_PROGRESS, pair.receive().test(receive));
      pair.send().close();
      assertTrue(FailureCause.isFailure(pair.send().test(send[0])));
      assertTrue(FailureCause.isFailure(hosts.await(pair.receive(), receive)));
      pair.receive().close();
    }
  }
}
