package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What reaches the C boundary in endpoint scope, which no provider of an ordinary machine has: a
 * real domain, whose table of registration calls is replaced by one that enforces FI_MR_ENDPOINT.
 */
class EndpointScopeTest {
  private Fabric fabric;
  private LibfabricDomain domain;
  private AddressVector peers;
  private CompletionQueue queue;
  private Endpoint endpoint;
  private EndpointScopedCalls calls;
  private RegionRequest request;
  private Loopback memory;

  @BeforeEach
  void open() {
    memory = new Loopback("sockets");
    fabric =
        FabricProvider.named("libfabric")
            .open(Loopback.negotiated("sockets", MrMode.ENDPOINT, MrMode.PROV_KEY));
    domain = (LibfabricDomain) fabric.openDomain();
    peers = domain.openAddressVector(1);
    queue = domain.openCompletionQueue(64, 64);
    endpoint = domain.openEndpoint(EndpointRequest.of("rail", peers, queue));
    calls = new EndpointScopedCalls(domain);
    request = RegionRequest.host(memory.memory, Access.ALL);
  }

  @AfterEach
  void close() {
    endpoint.close();
    queue.close();
    peers.close();
    calls.uninstall();
    domain.close();
    fabric.close();
    memory.close();
  }

  private String name(Endpoint other) {
    return "ep 0x%x".formatted(((LibfabricEndpoint) other).nativeObject().address());
  }

  @Test
  void registersBindsAndEnablesInOrderAndReadsTheKeyLast() {
    UnboundRegion unbound = domain.registerForEndpoint(request);
    BoundRegion bound = unbound.bind(endpoint);
    MemoryRegion region = bound.enable();
    assertEquals(EndpointScopedCalls.KEY, region.key());
    region.close();
    assertEquals(List.of("regattr", "bind " + name(endpoint), "enable", "close"), calls.made());
  }

  @Test
  void theEndpointClosesAfterItsRegions() {
    MemoryRegion region = domain.registerForEndpoint(request).bind(endpoint).enable();
    FabricException refused = assertThrows(FabricException.class, endpoint::close);
    assertEquals(FabricErrno.EBUSY, refused.errno());
    assertTrue(refused.getMessage().contains("region HOST"), refused::getMessage);
    region.close();
  }

  @Test
  void aRegionIsBoundOnceAndEnabledOnce() {
    UnboundRegion unbound = domain.registerForEndpoint(request);
    BoundRegion bound = unbound.bind(endpoint);
    assertThrows(IllegalStateException.class, () -> unbound.bind(endpoint));
    unbound.close();
    MemoryRegion region = bound.enable();
    assertThrows(IllegalStateException.class, bound::enable);
    bound.close();
    assertEquals(List.of("regattr", "bind " + name(endpoint), "enable"), calls.made());
    region.close();
  }

  @Test
  void aRefusedBindLeavesTheRegionToClose() {
    calls.refuse("bind", FabricErrno.EINVAL);
    UnboundRegion unbound = domain.registerForEndpoint(request);
    FabricException refused = assertThrows(FabricException.class, () -> unbound.bind(endpoint));
    assertEquals("fi_mr_bind", refused.operation());
    assertTrue(refused.getMessage().contains("endpoint 'rail'"), refused::getMessage);
    unbound.close();
    assertEquals(List.of("regattr", "bind " + name(endpoint), "close"), calls.made());
  }

  @Test
  void aRefusedEnableLeavesTheRegionToClose() {
    calls.refuse("enable", FabricErrno.ENOSPC);
    BoundRegion bound = domain.registerForEndpoint(request).bind(endpoint);
    FabricException refused = assertThrows(FabricException.class, bound::enable);
    assertEquals(FabricErrno.ENOSPC, refused.errno());
    assertTrue(refused.getMessage().contains("out of regions"), refused::getMessage);
    bound.close();
    assertEquals(List.of("regattr", "bind " + name(endpoint), "enable", "close"), calls.made());
  }

  @Test
  void anUnboundRegionCloses() {
    UnboundRegion unbound = domain.registerForEndpoint(request);
    unbound.close();
    unbound.close();
    assertThrows(IllegalStateException.class, () -> unbound.bind(endpoint));
    assertEquals(List.of("regattr", "close"), calls.made());
  }

  @Test
  void domainScopedRegistrationIsRefusedHere() {
    assertThrows(IllegalStateException.class, () -> domain.register(request));
    assertThrows(
        IllegalArgumentException.class,
        () -> {
          try (UnboundRegion unbound = domain.registerForEndpoint(request)) {
            unbound.bind(memory.endpoint);
          }
        });
  }
}
