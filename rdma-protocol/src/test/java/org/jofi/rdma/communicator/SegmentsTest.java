package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jofi.fabric.DeviceAllocation;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.MemoryKind;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.CacheOptions;
import org.jofi.transport.CacheStatistics;
import org.jofi.transport.Comm;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.ReceiveGroup;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Memory that is registered by its use, kept, and let go. */
class SegmentsTest {
  private static final int TAG = 3;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  private static void exchange(
      SimulatedHosts hosts, Pair pair, MemorySegment from, MemorySegment to, long at, long bytes) {
    to.fill((byte) 0);
    long receive = pair.receive().irecv(to, at, bytes, TAG);
    long send = pair.send().isend(from, at, bytes, TAG);
    assertEquals(bytes, hosts.await(pair.send(), send));
    assertEquals(bytes, hosts.await(pair.receive(), receive));
    assertEquals(-1, from.asSlice(at, bytes).mismatch(to.asSlice(at, bytes)));
  }

  private static CacheStatistics statistics(Comm comm) {
    return comm.device().cacheStatistics();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aSegmentIsRegisteredOnceAndAllOfItsPartsHit(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 1, 2)) {
      Pair pair = hosts.connect();
      MemorySegment from = hosts.memory(100_000, 3);
      MemorySegment to = hosts.memory(100_000, 0);
      for (int round = 0; round < 3; round++) {
        for (long bytes : new long[] {100_000, 0, 1, 511, 5000}) {
          exchange(hosts, pair, from, to, 0, bytes);
          exchange(hosts, pair, from, to, (100_000 - bytes) / 2, bytes);
        }
        exchange(hosts, pair, from.asSlice(4096, 64), to.asSlice(4096, 64), 0, 64);
      }
      for (Comm comm : List.of(pair.send(), pair.receive())) {
        CacheStatistics now = statistics(comm);
        // And what stands for a message of no bytes.
        assertEquals(2, now.misses(), now::toString);
        assertEquals(31, now.hits(), now::toString);
        assertEquals(2, now.registrations());
        assertTrue(now.pinnedBytes() > 100_000 && now.pinnedBytes() < 110_000, now::toString);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void groupsReceiveIntoSegments(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 2, 2)) {
      Pair pair = hosts.connect();
      MemorySegment to = hosts.memory(3000, 0);
      MemorySegment other = hosts.memory(1000, 0);
      long receive =
          pair.receive()
              .irecv(new ReceiveGroup().add(to, 2000, 1000, 0).add(other, 1).add(to, 0, 500, 2));
      MemorySegment from = hosts.memory(1000, 5);
      for (int tag = 0; tag < 3; tag++) {
        hosts.await(pair.send(), pair.send().isend(from, 0, tag == 2 ? 500 : 1000, tag));
      }
      assertEquals(2500, hosts.await(pair.receive(), receive));
      assertEquals(-1, from.mismatch(to.asSlice(2000)));
      assertEquals(-1, from.mismatch(other));
      assertEquals(-1, from.asSlice(0, 500).mismatch(to.asSlice(0, 500)));
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void oneSidedCallsRegisterByUse(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 3, 2)) {
      Pair pair = hosts.connect();
      MemorySegment window = hosts.memory(10_000, 0);
      RemoteMemory remote =
          pair.receive().register(window, Use.PEER_READS, Use.PEER_WRITES).remote();
      MemorySegment from = hosts.memory(10_000, 9);
      MemorySegment into = hosts.memory(10_000, 1);
      SendComm send = pair.send();
      assertEquals(9000, hosts.await(send, send.iwrite(from, 1000, 9000, remote, 1000)));
      assertEquals(9000, hosts.await(send, send.iread(into, 1000, 9000, remote, 1000)));
      assertEquals(-1, from.asSlice(1000).mismatch(into.asSlice(1000)));
      MemorySegment heap = MemorySegment.ofArray(new byte[] {0, 1, 2, 3});
      assertEquals(3, hosts.await(send, send.iwriteInline(heap, 1, 3, remote, 7)));
      assertEquals(-1, heap.asSlice(1).mismatch(window.asSlice(7, 3)));
      MemorySegment some = hosts.memory(300, 4);
      assertEquals(300, hosts.await(send, send.iwrite(some, remote.slice(5000, 300))));
      assertEquals(-1, some.mismatch(window.asSlice(5000, 300)));
      MemorySegment back = hosts.memory(300, 0);
      assertEquals(300, hosts.await(send, send.iread(back, remote.slice(5000, 4000))));
      assertEquals(-1, some.mismatch(back));
    }
  }

  /** Nothing of a NIC refuses these: the calls do. */
  @Test
  void memoryThatCannotBeUsedIsRefused() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 4, 1)) {
      Pair pair = hosts.connect();
      SendComm send = pair.send();
      RecvComm receive = pair.receive();
      MemorySegment memory = hosts.memory(100, 0);
      for (long[] wrong :
          new long[][] {{1, 100}, {-1, 10}, {0, -1}, {0, Long.MAX_VALUE}, {Long.MAX_VALUE, 10}}) {
        assertThrows(
            IllegalArgumentException.class, () -> send.isend(memory, wrong[0], wrong[1], 0));
        assertThrows(
            IllegalArgumentException.class, () -> receive.irecv(memory, wrong[0], wrong[1], 0));
      }
      MemorySegment heap = MemorySegment.ofArray(new byte[10]);
      assertThrows(IllegalArgumentException.class, () -> send.isend(heap, 0));
      assertThrows(IllegalArgumentException.class, () -> receive.irecv(heap, 0));
      assertThrows(IllegalArgumentException.class, () -> receive.irecv(memory.asReadOnly(), 0));
      MemorySegment closed;
      try (Arena arena = Arena.ofConfined()) {
        closed = arena.allocate(100);
        hosts.await(receive, exchanged(hosts, pair, closed));
      }
      assertThrows(IllegalStateException.class, () -> send.isend(closed, 0));
      assertThrows(IllegalStateException.class, () -> receive.irecv(closed, 0));
      // What was kept of it goes with the next look.
      assertEquals(1, statistics(send).registrations());
      hosts.tend();
      assertEquals(0, statistics(send).registrations());
    }
  }

  private static long exchanged(SimulatedHosts hosts, Pair pair, MemorySegment from) {
    long receive = pair.receive().irecv(hosts.memory(from.byteSize(), 0), TAG);
    hosts.await(pair.send(), pair.send().isend(from, TAG));
    return receive;
  }

  /** Each part of a long one has a registration of its own. */
  @Test
  void longSegmentsAreNotRegisteredAsAWhole() {
    try (SimulatedHosts hosts =
        new SimulatedHosts(
            Profile.TCP, 5, 1, options -> options.cache(new CacheOptions(2, 1 << 20, 1000)))) {
      Pair pair = hosts.connect();
      MemorySegment from = hosts.memory(10_000, 1);
      MemorySegment to = hosts.memory(10_000, 2);
      for (long part = 0; part < 4; part++) {
        exchange(hosts, pair, from, to, part * 2000, 2000);
        exchange(hosts, pair, from, to, part * 2000 + 100, 500);
      }
      CacheStatistics now = statistics(pair.send());
      assertEquals(4, now.misses());
      assertEquals(4, now.hits());
      assertEquals(2, now.registrations(), "as many as are to be kept");
      assertEquals(2, now.evictions());
    }
  }

  @Test
  void memoryWithoutAnArenaIsRegisteredForEachRequest() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 6, 1)) {
      Pair pair = hosts.connect();
      MemorySegment from = Arena.global().allocate(100);
      MemorySegment to = hosts.memory(100, 2);
      for (int i = 0; i < 3; i++) {
        exchange(hosts, pair, from, to, 0, 100);
      }
      assertEquals(3, statistics(pair.send()).misses());
      assertEquals(0, statistics(pair.send()).registrations());
      assertEquals(1, statistics(pair.receive()).registrations());
    }
  }

  @Test
  void aDirectBufferCanBeRegistered() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 7, 1)) {
      Pair pair = hosts.connect();
      ByteBuffer buffer = ByteBuffer.allocateDirect(100).position(40);
      Registration registered = pair.receive().register(Memory.of(buffer), Use.RECEIVE);
      assertEquals(60, registered.lengthBytes());
      MemorySegment from = hosts.memory(60, 9);
      long receive = pair.receive().irecv(registered, TAG);
      hosts.await(pair.send(), pair.send().isend(from, TAG));
      assertEquals(60, hosts.await(pair.receive(), receive));
      assertEquals(-1, from.mismatch(MemorySegment.ofBuffer(buffer)));
      ByteBuffer heap = ByteBuffer.allocate(10);
      assertThrows(IllegalArgumentException.class, () -> Memory.of(heap));
    }
  }

  @Test
  void aSegmentIsReachableWhileItsRequestIsInFlightAndNoLonger() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 8, 1)) {
      Pair pair = hosts.connect();
      long[] request = new long[1];
      WeakReference<MemorySegment> automatic = receiveAutomatic(pair.receive(), request);
      assertFalse(SimulatedHosts.isCollected(automatic));
      hosts.await(pair.send(), pair.send().isend(hosts.memory(100, 1), TAG));
      assertEquals(100, hosts.await(pair.receive(), request[0]));
      assertTrue(SimulatedHosts.isCollected(automatic));
      hosts.tend();
      assertEquals(0, statistics(pair.receive()).registrations());
    }
  }

  private static WeakReference<MemorySegment> receiveAutomatic(RecvComm comm, long[] request) {
    MemorySegment memory = Arena.ofAuto().allocate(100);
    request[0] = comm.irecv(memory, TAG);
    return new WeakReference<>(memory);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void anArenaOfTheTransportRefusesToCloseUnderARequest(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 9, 2)) {
      Pair pair = hosts.connect();
      Arena arena = hosts.transports.get(1).openArena();
      MemorySegment to = arena.allocate(5000);
      long request = pair.receive().irecv(to, TAG);
      IllegalStateException busy = assertThrows(IllegalStateException.class, arena::close);
      assertTrue(
          busy.getMessage().contains("request 0x" + Long.toHexString(request)), busy::getMessage);
      Memory memory = Memory.of(to);
      IllegalStateException used =
          assertThrows(IllegalStateException.class, () -> hosts.transports.get(1).forget(memory));
      assertTrue(used.getMessage().contains(pair.receive().label()), used::getMessage);
      MemorySegment from = hosts.memory(5000, 4);
      hosts.await(pair.send(), pair.send().isend(from, TAG));
      assertEquals(5000, hosts.await(pair.receive(), request));
      assertEquals(-1, from.mismatch(to));
      Registration held = pair.receive().register(to, Use.RECEIVE);
      arena.close();
      assertFalse(held.isOpen());
      assertFalse(to.scope().isAlive());
      assertEquals(0, statistics(pair.receive()).registrations());
    }
  }

  @Test
  void forgottenMemoryIsRegisteredAnew() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.CXI, 10, 2)) {
      Pair pair = hosts.connect();
      MemorySegment from = hosts.memory(1000, 1);
      MemorySegment to = hosts.memory(1000, 2);
      exchange(hosts, pair, from, to, 0, 1000);
      hosts.transports.get(0).forget(Memory.of(from.asSlice(500, 1)));
      assertEquals(0, statistics(pair.send()).registrations());
      exchange(hosts, pair, from, to, 0, 1000);
      assertEquals(2, statistics(pair.send()).misses());
    }
  }

  /** Of a GPU: known by the driver's id, which dies with the allocation. */
  @Test
  void deviceMemoryIsKeptUntilItsDriverSaysThatItIsGone() {
    for (Profile profile : List.of(Profile.EFA, Profile.CXI)) {
      AtomicLong generation = new AtomicLong();
      try (SimulatedHosts hosts =
          new SimulatedHosts(
              profile, 11, 1, options -> options, driver -> reusing(driver, generation))) {
        Pair pair = hosts.connect();
        MemorySegment gpu = hosts.simulation.host(0).allocateDevice(MemoryKind.CUDA, 4096);
        Memory memory = Memory.device(MemoryKind.CUDA, 0, gpu.address(), 4096);
        Registration first = pair.send().register(memory, Use.SEND);
        first.close();
        for (int i = 0; i < 10; i++) {
          hosts.tend();
        }
        pair.send().register(memory, Use.SEND).close();
        CacheStatistics now = statistics(pair.send());
        assertEquals(1, now.misses(), now::toString);
        assertEquals(1, now.hits(), now::toString);
        assertEquals(1, now.registrations(), now::toString);
        // Freed, and allocated again at the same address.
        generation.incrementAndGet();
        Registration other = pair.send().register(memory, Use.SEND);
        now = statistics(pair.send());
        assertEquals(2, now.misses(), now::toString);
        assertEquals(1, now.registrations(), "the old one is superseded");
        other.close();
        assertEquals(1, statistics(pair.send()).registrations());
        generation.incrementAndGet();
        for (int i = 0; i < 10; i++) {
          hosts.tend();
        }
        assertEquals(0, statistics(pair.send()).registrations());
      }
    }
  }

  /** A driver whose allocations are freed and made again, at the same addresses. */
  private static DeviceMemory reusing(DeviceMemory driver, AtomicLong generation) {
    return (DeviceMemory)
        Proxy.newProxyInstance(
            DeviceMemory.class.getClassLoader(),
            new Class<?>[] {DeviceMemory.class},
            (proxy, method, arguments) -> {
              Object result = method.invoke(driver, arguments);
              return result instanceof DeviceAllocation found
                  ? new DeviceAllocation(
                      found.kind(),
                      found.device(),
                      found.address(),
                      found.lengthBytes(),
                      found.id() + 1000 * generation.get())
                  : result;
            });
  }

  /** What a peer may do is what the memory was registered for. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aPeerIsRefusedWhatMemoryIsNotRegisteredFor(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 12, 1)) {
      Pair pair = hosts.connect();
      SendComm send = pair.send();
      RecvComm receive = pair.receive();
      MemorySegment window = hosts.memory(1000, 50);
      Registration sent = receive.register(window, Use.SEND, Use.RECEIVE);
      assertThrows(IllegalStateException.class, sent::remote);
      MemorySegment mine = hosts.memory(1000, 7);
      byte[] before = window.toArray(ValueLayout.JAVA_BYTE);
      RemoteMemory readable = receive.register(window, Use.PEER_READS).remote();
      assertEquals(
          FailureCause.FABRIC.code(), hosts.await(send, send.iwrite(mine, 0, 1000, readable, 0)));
      assertEquals(-1, MemorySegment.ofArray(before).mismatch(window), "nothing was written");
      assertEquals(1000, hosts.await(send, send.iread(mine, 0, 1000, readable, 0)));
      assertEquals(-1, mine.mismatch(window));
      mine.fill((byte) 1);
      RemoteMemory writable = receive.register(window, Use.PEER_WRITES).remote();
      assertEquals(
          FailureCause.FABRIC.code(), hosts.await(send, send.iread(mine, 0, 1000, writable, 0)));
      assertEquals(1, mine.get(ValueLayout.JAVA_BYTE, 0), "nothing was read");
      assertEquals(1000, hosts.await(send, send.iwrite(mine, 0, 1000, writable, 0)));
      assertEquals(-1, mine.mismatch(window));
    }
  }

  /** What a peer reached when it liked is closed with its last registration. */
  @Test
  void exposedMemoryIsNotKept() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 13, 1)) {
      Pair pair = hosts.connect();
      MemorySegment window = hosts.memory(1000, 50);
      Registration first = pair.receive().register(window, Use.PEER_WRITES);
      Registration second = pair.receive().register(window, Use.PEER_WRITES);
      RemoteMemory remote = second.remote();
      first.close();
      MemorySegment mine = hosts.memory(1000, 7);
      SendComm send = pair.send();
      assertEquals(1000, hosts.await(send, send.iwrite(mine, 0, 1000, remote, 0)));
      second.close();
      assertEquals(0, statistics(pair.receive()).registrations());
      assertEquals(
          FailureCause.FABRIC.code(), hosts.await(send, send.iwrite(mine, 0, 1000, remote, 0)));
    }
  }

  /** A peer that may read a window may not read what another peer writes into the same memory. */
  @Test
  void exposedMemorySharesNoRegistration() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 15, 1)) {
      Pair pair = hosts.connect();
      MemorySegment window = hosts.memory(1000, 50);
      Registration exposed =
          pair.receive().register(window, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES);
      exchange(hosts, pair, hosts.memory(1000, 1), window, 0, 1000);
      assertEquals(2, statistics(pair.receive()).misses());
      exposed.close();
      assertEquals(1, statistics(pair.receive()).registrations());
    }
  }

  @Test
  void twoSegmentsOfOneDirectBufferAreToldApart() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 16, 1)) {
      Pair pair = hosts.connect();
      ByteBuffer buffer = ByteBuffer.allocateDirect(100);
      MemorySegment first = MemorySegment.ofBuffer(buffer);
      MemorySegment second = MemorySegment.ofBuffer(buffer);
      MemorySegment to = hosts.memory(100, 1);
      for (int i = 0; i < 3; i++) {
        exchange(hosts, pair, first, to, 0, 100);
      }
      for (int i = 0; i < 3; i++) {
        exchange(hosts, pair, second, to, 0, 100);
      }
      assertEquals(2, statistics(pair.send()).misses());
    }
  }

  @Test
  void whatIsWrittenInlineIsOfAnOpenArena() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 17, 1)) {
      Pair pair = hosts.connect();
      RemoteMemory remote = pair.receive().register(hosts.memory(100, 1), Use.PEER_WRITES).remote();
      MemorySegment closed;
      try (Arena arena = Arena.ofConfined()) {
        closed = arena.allocate(8);
      }
      assertThrows(
          IllegalStateException.class, () -> pair.send().iwriteInline(closed, 0, 8, remote, 0));
    }
  }

  @Test
  void aRegistrationServesOnlyWhatItIsFor() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 14, 1)) {
      Pair pair = hosts.connect();
      Registration toRead = pair.send().register(hosts.memory(100, 0), Use.RECEIVE);
      IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> pair.send().isend(toRead, TAG));
      assertTrue(refused.getMessage().contains("not for SEND"), refused::getMessage);
      Registration toSend = pair.receive().register(hosts.memory(100, 0), Use.SEND);
      assertThrows(IllegalArgumentException.class, () -> pair.receive().irecv(toSend, TAG));
    }
  }
}
