package org.jofi.abidouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jofi.fabric.UnboundRegion;
import org.jofi.mr.ControlRegistration;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The provider's own code, driven by the registrations of endpoint scope, breaks no rule. */
@Timeout(60)
class EndpointScopeTest {
  private static final int NICS = 2;
  private static final int BYTES = 65_536;

  static Stream<DoubleSettings> settings() {
    return Stream.of(
        DoubleSettings.cxi(),
        DoubleSettings.cxiWithClientKeys(),
        DoubleSettings.cxi().withLocalDescriptors(),
        DoubleSettings.cxiWithClientKeys().withLocalDescriptors());
  }

  @ParameterizedTest
  @MethodSource("settings")
  void theProviderSeesWhatCxiNegotiates(DoubleSettings settings) {
    FabricInfo info = Stand.loopback(new AbiDouble(settings).provider());
    assertEquals(RegistrationScope.ENDPOINT, info.registrationScope());
    assertTrue(info.mrModes().contains(MrMode.ALLOCATED), info::toString);
    assertEquals(settings.providerKeys(), info.mrModes().contains(MrMode.PROV_KEY));
    assertEquals(settings.localDescriptors(), info.mrModes().contains(MrMode.LOCAL));
    assertEquals(settings.providerKeys() ? 8 : 4, info.limits().mrKeyBytes());
  }

  @ParameterizedTest
  @MethodSource("settings")
  void everyRoleMovesData(DoubleSettings settings) {
    AbiDouble library = new AbiDouble(settings);
    try (Arena arena = Arena.ofShared();
        Device device = new Device(library, NICS, CacheLimits.DEFAULT)) {
      Rails left = new Rails("left", device);
      Rails right = new Rails("right", device);
      MemorySegment source = arena.allocate(BYTES, 4096);
      MemorySegment sink = arena.allocate(BYTES, 4096);
      for (int i = 0; i < BYTES; i += 8) {
        source.set(java.lang.foreign.ValueLayout.JAVA_LONG, i, i * 31L);
      }
      DataRegistration from = left.registrations.acquire(BufferRange.host(source), Access.WRITE);
      DataRegistration to =
          right.registrations.acquire(BufferRange.host(sink), Access.REMOTE_WRITE);
      stripe(left, right, from, to, source, sink);
      assertEquals(-1, source.mismatch(sink));

      mailbox(left, right, arena);
      receive(left, right, arena);
      from.release();
      to.release();
      left.close();
      right.close();
    }
    library.requireClean();
    Map<String, Long> calls = library.calls();
    // A sink, a source, a mailbox, two pools; all of them on each rail.
    assertEquals(calls.get("fi_mr_regattr"), calls.get("fi_control") - 4 * NICS);
    assertTrue(calls.get("fi_writedata") >= NICS, calls::toString);
    assertTrue(calls.get("fi_send") >= NICS, calls::toString);
  }

  /** Each data rail carries its part of the buffer. */
  private static void stripe(
      Rails left,
      Rails right,
      DataRegistration from,
      DataRegistration to,
      MemorySegment source,
      MemorySegment sink) {
    int part = BYTES / NICS;
    for (int rail = 0; rail < NICS; rail++) {
      int at = rail;
      long peer = left.peer(true, rail, right);
      int slot = left.slot();
      Endpoint endpoint = left.dataRails().get(rail).endpoint();
      left.post(
          () ->
              endpoint.writeData(
                  source.address() + (long) at * part,
                  part,
                  from.descriptor(at),
                  at,
                  peer,
                  to.remoteAddress(at, sink.address() + (long) at * part),
                  to.key(at),
                  slot,
                  at == 0 ? PostFlags.NONE : PostFlags.DELIVERY_COMPLETE),
          right);
    }
    left.drain(right);
    flush(left, right);
  }

  /** A write that says that it was delivered, on each rail, comes after those before it. */
  private static void flush(Rails left, Rails right) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment box = arena.allocate(64, 64);
      MemorySegment note = arena.allocate(64, 64);
      DataRegistration to = right.registrations.acquire(BufferRange.host(box), Access.REMOTE_WRITE);
      DataRegistration from = left.registrations.acquire(BufferRange.host(note), Access.WRITE);
      for (int rail = 0; rail < NICS; rail++) {
        int at = rail;
        long peer = left.peer(true, rail, right);
        int slot = left.slot();
        Endpoint endpoint = left.dataRails().get(rail).endpoint();
        left.post(
            () ->
                endpoint.write(
                    note.address(),
                    64,
                    from.descriptor(at),
                    peer,
                    to.remoteAddress(at, box.address()),
                    to.key(at),
                    slot,
                    PostFlags.DELIVERY_COMPLETE),
            right);
      }
      left.drain(right);
      from.release();
      to.release();
    }
  }

  /** A mailbox is written over the control rails. */
  private static void mailbox(Rails left, Rails right, Arena arena) {
    MemorySegment box = arena.allocate(4096, 4096);
    MemorySegment copy = arena.allocate(4096, 4096);
    ControlRegistration mailbox =
        right.registrations.registerControl(BufferRange.host(box), Access.REMOTE_WRITE);
    LocalRegistration source =
        left.registrations.registerLocal(BufferRange.host(copy), left.controlRails(), Access.WRITE);
    copy.fill((byte) 5);
    for (int rail = 0; rail < NICS; rail++) {
      int at = rail;
      long peer = left.peer(false, rail, right);
      int slot = left.slot();
      Endpoint endpoint = left.controlRails().get(rail).endpoint();
      left.post(
          () ->
              endpoint.write(
                  copy.address() + at * 64L,
                  64,
                  source.descriptor(at),
                  peer,
                  mailbox.remoteAddress(at, box.address() + at * 64L),
                  mailbox.key(at),
                  slot,
                  PostFlags.DELIVERY_COMPLETE),
          right);
    }
    left.drain(right);
    assertEquals(64L * NICS, box.mismatch(copy));
  }

  /** Messages between pools, over the control rails. */
  private static void receive(Rails left, Rails right, Arena arena) {
    MemorySegment out = arena.allocate(4096, 4096);
    MemorySegment in = arena.allocate(4096, 4096);
    LocalRegistration sends =
        left.registrations.registerLocal(BufferRange.host(out), left.controlRails(), Access.SEND);
    LocalRegistration receives =
        right.registrations.registerLocal(BufferRange.host(in), right.controlRails(), Access.RECV);
    out.fill((byte) 9);
    for (int rail = 0; rail < NICS; rail++) {
      int at = rail;
      long peer = left.peer(false, rail, right);
      int slot = left.slot();
      int receive = right.slot();
      Endpoint sender = left.controlRails().get(rail).endpoint();
      Endpoint receiver = right.controlRails().get(rail).endpoint();
      long offset = 2048L * rail;
      right.post(
          () ->
              receiver.recv(
                  in.address() + offset, 2048, receives.descriptor(at), AddressVector.ANY, receive),
          left);
      left.post(
          () -> sender.send(out.address() + offset, 2048, sends.descriptor(at), peer, slot), right);
    }
    left.drain(right);
    assertEquals(-1, out.mismatch(in));
  }

  /** Receives that were never answered are cancelled, whichever road the endpoint goes. */
  @ParameterizedTest
  @MethodSource("settings")
  void closesWithReceivesPosted(DoubleSettings settings) {
    AbiDouble library = new AbiDouble(settings);
    try (Arena arena = Arena.ofShared();
        Device device = new Device(library, NICS, CacheLimits.DEFAULT)) {
      for (boolean orderly : new boolean[] {true, false}) {
        Rails rails = new Rails(orderly ? "closed" : "aborted", device);
        MemorySegment in = arena.allocate(4096, 4096);
        LocalRegistration pool =
            rails.registrations.registerLocal(
                BufferRange.host(in), rails.controlRails(), Access.RECV);
        Endpoint endpoint = rails.controlRails().getFirst().endpoint();
        for (int i = 0; i < 8; i++) {
          int slot = rails.slot();
          long at = in.address() + i * 512L;
          rails.post(
              () -> endpoint.recv(at, 512, pool.descriptor(0), AddressVector.ANY, slot), rails);
        }
        if (orderly) {
          rails.close();
        } else {
          assertEquals(0, rails.abort());
        }
      }
    }
    library.requireClean();
  }

  /** What the SPI refuses never reaches the boundary. */
  @ParameterizedTest
  @MethodSource("settings")
  void whatTheSpiRefusesIsNotSeen(DoubleSettings settings) {
    AbiDouble library = new AbiDouble(settings);
    try (Arena arena = Arena.ofShared();
        Device device = new Device(library, NICS, CacheLimits.OFF)) {
      Rails rails = new Rails("rails", device);
      MemorySegment memory = arena.allocate(4096, 4096);
      DataRegistration lease = rails.registrations.acquire(BufferRange.host(memory), Access.ALL);
      Endpoint endpoint = rails.dataRails().getFirst().endpoint();
      FabricException refused = assertThrows(FabricException.class, endpoint::close);
      assertEquals(FabricErrno.EBUSY, refused.errno());
      assertThrows(
          IllegalStateException.class,
          () -> device.domains.getFirst().register(RegionRequest.host(memory, Access.ALL)));
      try (UnboundRegion foreign =
          device
              .domains
              .get(1)
              .registerForEndpoint(
                  RegionRequest.host(memory, Access.ALL).withRequestedKey(1 << 20))) {
        assertThrows(IllegalArgumentException.class, () -> foreign.bind(endpoint));
      }
      lease.release();
      rails.abort();
    }
    library.requireClean();
  }

  /** Registrations of all roles come and go at random, under a cache that evicts. */
  @ParameterizedTest
  @MethodSource("settings")
  void atRandom(DoubleSettings settings) {
    AbiDouble library = new AbiDouble(settings);
    SplittableRandom random = new SplittableRandom(20_261_121);
    try (Arena arena = Arena.ofShared();
        Device device = new Device(library, NICS, CacheLimits.DEFAULT.withIdle(3, BYTES))) {
      MemorySegment memory = arena.allocate(BYTES, 4096);
      for (int round = 0; round < 6; round++) {
        Rails rails = new Rails("round " + round, device);
        List<DataRegistration> leases = new ArrayList<>();
        for (int step = 0; step < 40; step++) {
          long at = random.nextLong(BYTES / 2);
          BufferRange range =
              BufferRange.host(memory.asSlice(at, 1 + random.nextLong(BYTES / 2)))
                  .ofAllocation(random.nextInt(1, 4));
          switch (random.nextInt(4)) {
            case 0 -> rails.registrations.registerControl(range, Access.REMOTE_WRITE);
            case 1 -> rails.registrations.registerLocal(range, rails.controlRails(), Access.RECV);
            case 2 -> leases.add(rails.registrations.acquire(range, Access.ALL));
            default -> {
              if (!leases.isEmpty()) {
                leases.remove(random.nextInt(leases.size())).release();
              }
            }
          }
        }
        leases.forEach(DataRegistration::release);
        rails.close();
      }
    }
    library.requireClean();
    assertTrue(library.calls().get("fi_mr_regattr") > 100, () -> library.calls().toString());
  }
}
