package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Capability;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What callers get wrong ends in an error that says so, and nothing is harmed by it. */
@Timeout(60)
class BadInputTest {
  private static final long UNMAPPED = 0x10_0000;

  /** Maps a page that nobody may touch, as the JVM does for guards and reserved heap. */
  @SuppressWarnings("restricted")
  private static long untouchable() {
    try {
      Linker linker = Linker.nativeLinker();
      return ((MemorySegment)
              linker
                  .downcallHandle(
                      linker.defaultLookup().findOrThrow("mmap"),
                      FunctionDescriptor.of(
                          ValueLayout.ADDRESS,
                          ValueLayout.JAVA_LONG,
                          ValueLayout.JAVA_LONG,
                          ValueLayout.JAVA_INT,
                          ValueLayout.JAVA_INT,
                          ValueLayout.JAVA_INT,
                          ValueLayout.JAVA_LONG))
                  // PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS
                  .invokeExact(0L, 4096L, 0, 0x22, -1, 0L))
          .address();
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static final CompletionQueue.Sink NOBODY =
      new CompletionQueue.Sink() {
        @Override
        public void completed(int context, long flags, long lengthBytes, long data) {}

        @Override
        public void failed(CompletionError error) {}
      };

  @Test
  void unknownProviderIsNoAnswer() {
    assertEquals(
        0,
        FabricProvider.named("libfabric")
            .discover(FabricHints.any().withProvider("no-such-provider"))
            .size());
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void truncatedAddressIsRefused(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      byte[] address = loopback.endpoint.address();
      for (int length : new int[] {0, 1, 2, 4, 8, address.length - 1}) {
        IllegalArgumentException refused =
            assertThrows(
                IllegalArgumentException.class,
                () -> loopback.peers.insert(Arrays.copyOf(address, length)),
                () -> "%d bytes of %d".formatted(length, address.length));
        assertTrue(refused.getMessage().contains("peer address"), refused.getMessage());
      }
      assertThrows(IllegalArgumentException.class, () -> loopback.peers.insert(new byte[100_000]));
      assertTrue(loopback.peers.insert(address) >= 0);
    }
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void postingToAPeerThatIsNotThereIsRefused(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      long address = loopback.memory.address();
      for (long peer : new long[] {-1, 5, 1 << 20, Long.MAX_VALUE, Long.MIN_VALUE}) {
        assertEquals(-FabricErrno.EINVAL, loopback.endpoint.send(address, 8, 0, peer, 0));
        assertEquals(-FabricErrno.EINVAL, loopback.endpoint.inject(address, 8, peer));
        assertEquals(
            -FabricErrno.EINVAL,
            loopback.endpoint.write(address, 8, 0, peer, 0, 0, 0, PostFlags.NONE));
        assertEquals(-FabricErrno.EINVAL, loopback.endpoint.read(address, 8, 0, peer, 0, 0, 0));
      }
      loopback.peers.remove(loopback.self);
      assertEquals(-FabricErrno.EINVAL, loopback.endpoint.send(address, 8, 0, loopback.self, 0));
      assertThrows(IllegalArgumentException.class, () -> loopback.peers.remove(loopback.self));
    }
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void contextsLengthsAndNullAreChecked(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      long address = loopback.memory.address();
      long self = loopback.self;
      for (int context : new int[] {-1, Loopback.CONTEXTS, Integer.MAX_VALUE}) {
        assertEquals(-FabricErrno.EINVAL, loopback.endpoint.send(address, 8, 0, self, context));
        assertEquals(
            -FabricErrno.EINVAL, loopback.endpoint.recv(address, 8, 0, AddressVector.ANY, context));
        assertEquals(-FabricErrno.EINVAL, loopback.endpoint.cancel(context));
      }
      assertEquals(-FabricErrno.EINVAL, loopback.endpoint.send(address, -1, 0, self, 0));
      assertEquals(-FabricErrno.EMSGSIZE, loopback.endpoint.inject(address, 1 << 30, self));
      assertEquals(
          -FabricErrno.EMSGSIZE,
          loopback.endpoint.write(address, 1 << 30, 0, self, 0, 0, 0, PostFlags.INJECT));
      assertEquals(-FabricErrno.EINVAL, loopback.endpoint.send(0, 8, 0, self, 0));
      assertThrows(IllegalArgumentException.class, () -> loopback.queue.poll(NOBODY, 0));
    }
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void receivingFromOnePeerNeedsTheCapability(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      assertEquals(
          loopback.fabric.info().has(Capability.DIRECTED_RECV) ? 0 : -FabricErrno.EOPNOTSUPP,
          loopback.endpoint.recv(loopback.memory.address(), 8, 0, loopback.self, 0));
    }
  }

  @Test
  void aMissingDescriptorIsRefusedWhereOneIsNeeded() {
    try (Loopback loopback = Loopback.negotiating("sockets", MrMode.LOCAL)) {
      long address = loopback.memory.address();
      assertEquals(-FabricErrno.EINVAL, loopback.endpoint.send(address, 8, 0, loopback.self, 0));
      assertEquals(
          -FabricErrno.EINVAL, loopback.endpoint.recv(address, 8, 0, AddressVector.ANY, 0));
      assertEquals(0, loopback.endpoint.recv(address, 0, 0, AddressVector.ANY, 0));
      assertEquals(
          -FabricErrno.EINVAL, loopback.endpoint.read(address, 8, 0, loopback.self, 0, 0, 0));
      assertEquals(
          -FabricErrno.EINVAL,
          loopback.endpoint.write(address, 8, 0, loopback.self, 0, 0, 0, PostFlags.NONE));
    }
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void registrationsThatCannotBeAreRefused(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      long address = loopback.memory.address();
      assertThrows(
          IllegalArgumentException.class, () -> RegionRequest.host(address, 0, Access.SEND));
      assertThrows(
          IllegalArgumentException.class, () -> RegionRequest.host(address, -4, Access.SEND));
      assertThrows(IllegalArgumentException.class, () -> RegionRequest.host(address, 8, 0));
      assertThrows(IllegalArgumentException.class, () -> RegionRequest.host(0, 8, Access.SEND));
      assertThrows(
          IllegalArgumentException.class,
          () -> RegionRequest.host(MemorySegment.ofArray(new byte[8]), Access.SEND));
      IllegalArgumentException unmapped =
          assertThrows(
              IllegalArgumentException.class,
              () -> loopback.domain.register(RegionRequest.host(UNMAPPED, 4096, Access.ALL)));
      assertTrue(unmapped.getMessage().contains("mapped"), unmapped.getMessage());
      long untouchable = untouchable();
      assertThrows(
          IllegalArgumentException.class,
          () -> loopback.domain.register(RegionRequest.host(untouchable, 4096, Access.ALL)));
      assertThrows(
          IllegalArgumentException.class,
          () ->
              loopback.domain.register(RegionRequest.host(address, 1L << 44, Access.REMOTE_WRITE)));
      assertThrows(
          IllegalStateException.class,
          () ->
              loopback.domain.registerForEndpoint(RegionRequest.host(loopback.memory, Access.ALL)));
    }
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void aKeyInUseIsRefusedAndNamed(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      RegionRequest request = RegionRequest.host(loopback.memory, Access.ALL).withRequestedKey(17);
      try (MemoryRegion region = loopback.domain.register(request)) {
        assertEquals(17, region.key());
        FabricException refused =
            assertThrows(FabricException.class, () -> loopback.domain.register(request));
        assertEquals(FabricErrno.ENOKEY, refused.errno());
        assertEquals("fi_mr_regattr", refused.operation());
        assertTrue(refused.getMessage().contains("ENOKEY"), refused.getMessage());
        assertTrue(refused.getMessage().contains(provider), refused.getMessage());
        assertTrue(refused.getMessage().contains("65536"), refused.getMessage());
      }
      loopback.domain.register(request).close();
    }
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void deviceMemoryNeedsANicThatReachesIt(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      long address = loopback.memory.address();
      for (RegionRequest request :
          List.of(
              RegionRequest.device(MemoryKind.CUDA, 0, address, 4096, Access.ALL),
              RegionRequest.host(address, 4096, Access.ALL).withDmaBuf(new DmaBuf(0, 0)))) {
        FabricException refused =
            assertThrows(FabricException.class, () -> loopback.domain.register(request));
        assertEquals(FabricErrno.ENOSYS, refused.errno());
        assertTrue(refused.getMessage().contains("FI_HMEM"), refused::getMessage);
      }
    }
  }

  @Test
  void dmaBufsNeedALibraryThatKnowsThem() {
    String version = FabricProvider.named("libfabric").version();
    assumeTrue(
        version.startsWith("libfabric 1."), () -> version + " knows dma-bufs: not refused here");
    try (Loopback loopback = Loopback.withHmem("shm")) {
      RegionRequest request =
          RegionRequest.host(loopback.memory, Access.ALL).withDmaBuf(new DmaBuf(0, 0));
      FabricException refused =
          assertThrows(FabricException.class, () -> loopback.domain.register(request));
      assertEquals(FabricErrno.ENOSYS, refused.errno());
    }
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void optionsThatAProviderLacksAreErrors(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      FabricException refused =
          assertThrows(
              FabricException.class,
              () -> loopback.endpoint.setOption(EndpointOption.MAX_RMA_SIZE, -1));
      assertTrue(refused.operation().startsWith("fi_setopt"), refused.operation());
    }
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void anythingAfterCloseSaysSo(String provider) {
    Loopback loopback = new Loopback(provider);
    RegionRequest request = RegionRequest.host(loopback.memory, Access.ALL).withRequestedKey(3);
    MemoryRegion region = loopback.domain.register(request);
    long address = loopback.memory.address();
    region.close();
    region.close();
    assertThrows(IllegalStateException.class, region::key);
    assertThrows(IllegalStateException.class, region::descriptor);
    loopback.endpoint.close();
    loopback.endpoint.close();
    assertThrows(IllegalStateException.class, () -> loopback.endpoint.send(address, 8, 0, 0, 0));
    assertThrows(IllegalStateException.class, () -> loopback.endpoint.recv(address, 8, 0, 0, 0));
    assertThrows(IllegalStateException.class, () -> loopback.endpoint.cancel(0));
    assertThrows(IllegalStateException.class, loopback.endpoint::address);
    loopback.queue.close();
    assertThrows(IllegalStateException.class, () -> loopback.queue.poll(NOBODY, 1));
    loopback.peers.close();
    assertThrows(IllegalStateException.class, () -> loopback.peers.insert(new byte[16]));
    loopback.domain.close();
    assertThrows(IllegalStateException.class, () -> loopback.domain.register(request));
    assertThrows(IllegalStateException.class, () -> loopback.domain.openAddressVector(1));
    loopback.fabric.close();
    assertThrows(IllegalStateException.class, loopback.fabric::openDomain);
    loopback.close();
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void memoryFreedWhileRegisteredDoesNotCrashTheClose(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      MemoryRegion region;
      try (Arena brief = Arena.ofConfined()) {
        region =
            loopback.domain.register(
                RegionRequest.host(brief.allocate(8 << 20, 4096), Access.ALL).withRequestedKey(9));
      }
      region.close();
    }
  }
}
