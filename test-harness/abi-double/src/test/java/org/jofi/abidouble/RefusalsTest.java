package org.jofi.abidouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.fabric.Access;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A region's way from registration to its end, and what is left of it when a NIC refuses. */
@Timeout(60)
class RefusalsTest {
  private final AbiDouble library = new AbiDouble(DoubleSettings.cxi());
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(4096, 4096);
  private final RegionRequest request = RegionRequest.host(memory, Access.ALL);
  private Device device;
  private Rails rails;
  private Endpoint endpoint;

  @BeforeEach
  void open() {
    device = new Device(library, 2, CacheLimits.OFF);
    rails = new Rails("rails", device);
    endpoint = rails.dataRails().getFirst().endpoint();
  }

  @AfterEach
  void close() {
    rails.close();
    device.close();
    arena.close();
    library.requireClean();
  }

  private UnboundRegion register() {
    return device.domains.getFirst().registerForEndpoint(request);
  }

  @Test
  void aRegionIsBoundOnceAndEnabledOnce() {
    UnboundRegion unbound = register();
    BoundRegion bound = unbound.bind(endpoint);
    assertThrows(IllegalStateException.class, () -> unbound.bind(endpoint));
    unbound.close();
    MemoryRegion region = bound.enable();
    assertThrows(IllegalStateException.class, bound::enable);
    bound.close();
    assertTrue(region.key() != -1, "the key was read after fi_mr_enable");
    region.close();
  }

  @Test
  void anUnboundRegionCloses() {
    UnboundRegion unbound = register();
    unbound.close();
    unbound.close();
    assertThrows(IllegalStateException.class, () -> unbound.bind(endpoint));
  }

  @Test
  void aRefusedBindLeavesTheRegionToClose() {
    library.refuse("fi_mr_bind", 0, FabricErrno.EINVAL);
    try (UnboundRegion unbound = register()) {
      FabricException refused = assertThrows(FabricException.class, () -> unbound.bind(endpoint));
      assertEquals("fi_mr_bind", refused.operation());
      assertTrue(refused.getMessage().contains("endpoint 'rails data'"), refused::getMessage);
    }
  }

  @Test
  void aRefusedEnableLeavesTheRegionToClose() {
    library.refuse("fi_mr_enable", 0, FabricErrno.ENOSPC);
    try (BoundRegion bound = register().bind(endpoint)) {
      FabricException refused = assertThrows(FabricException.class, bound::enable);
      assertEquals(FabricErrno.ENOSPC, refused.errno());
      assertTrue(refused.getMessage().contains("out of regions"), refused::getMessage);
    }
  }

  /** Whichever call of whichever rail is refused, what was done before is undone. */
  @ParameterizedTest
  @CsvSource({
    "fi_mr_regattr, 0", "fi_mr_bind, 0", "fi_mr_enable, 0",
    "fi_mr_regattr, 1", "fi_mr_bind, 1", "fi_mr_enable, 1"
  })
  void aRefusalAtOneRailUndoesTheOthers(String call, int rail) {
    library.refuse(call, rail, FabricErrno.EINVAL);
    BufferRange range = BufferRange.host(memory);
    assertThrows(RegistrationException.class, () -> rails.registrations.acquire(range, Access.ALL));
    DataRegistration lease = rails.registrations.acquire(range, Access.ALL);
    assertTrue(lease.isOpen());
    lease.release();
  }
}
