package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jofi.fabric.Capability;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricLimits;
import org.jofi.libfabric.bindings.fi_ops_ep;
import org.jofi.libfabric.bindings.fid_ep;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which options an endpoint is opened with so that a flush goes through the NIC. */
class OwnReadsTest {
  private static final int SHARED = Bits.ofOption(EndpointOption.SHARED_MEMORY_PERMITTED);
  private static final int CUDA = Bits.ofOption(EndpointOption.CUDA_API_PERMITTED);
  private static final String SWITCH = "FI_EFA_ENABLE_SHM_TRANSFER";

  private static final FabricLimits LIMITS = new FabricLimits(8, 4, 64, 1L << 30, 256, 256, 1, 0);

  /** The options that were set to false, in order. */
  private final List<Integer> set = new ArrayList<>();

  @SuppressWarnings("restricted")
  private static byte at(MemorySegment pointer) {
    return pointer.reinterpret(1).get(ValueLayout.JAVA_BYTE, 0);
  }

  /** What comes of it on an endpoint that answers so; with 0, if nothing else is said. */
  private @Nullable FabricException demand(
      String provider,
      boolean deviceMemory,
      Map<Integer, Integer> answers,
      Map<String, String> env) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = arena.allocate(512, 8);
      fi_ops_ep.setopt(
          table,
          fi_ops_ep.setopt.allocate(
              (_, _, option, value, length) -> {
                assertEquals(1, length, "a C bool");
                assertEquals(0, at(value), "forbidden");
                set.add(option);
                return answers.getOrDefault(option, 0);
              },
              arena));
      MemorySegment endpoint = arena.allocate(512, 8);
      fid_ep.ops(endpoint, table);
      FabricInfo info =
          FabricInfo.builder(provider, provider, "nic0")
              .limits(LIMITS)
              .capabilities(deviceMemory ? Set.of(Capability.HMEM) : Set.of())
              .build();
      return new OwnReads(info, env::get).demand(new EndpointOptions(endpoint, "here"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa-direct", "cxi", "verbs;ofi_rxm", "tcp", "shm"})
  void otherProvidersAreAskedNothing(String provider) {
    assertNull(demand(provider, true, Map.of(), Map.of()));
    assertEquals(List.of(), set);
  }

  @Test
  void sharedMemoryIsForbiddenAndCudaWhereThereIsDeviceMemory() {
    assertNull(demand("efa", false, Map.of(), Map.of()));
    assertEquals(List.of(SHARED), set);
    assertNull(demand("efa", true, Map.of(), Map.of()));
    assertEquals(List.of(SHARED, SHARED, CUDA), set);
  }

  /** Before libfabric 1.21, which has the variable alone. */
  @Test
  void whereTheOptionIsUnknownTheVariableDecides() {
    Map<Integer, Integer> unknown = Map.of(SHARED, -FabricErrno.ENOPROTOOPT);
    FabricException refusal = demand("efa", false, unknown, Map.of());
    assertNotNull(refusal);
    assertEquals(FabricErrno.ENOPROTOOPT, refusal.errno());
    assertTrue(refusal.getMessage().contains("SHARED_MEMORY_PERMITTED"), refusal::getMessage);
    for (String off : List.of("0", "false", "No", "off")) {
      assertNull(demand("efa", false, unknown, Map.of(SWITCH, off)));
    }
    for (String on : List.of("1", "true", "", "maybe")) {
      assertNotNull(demand("efa", false, unknown, Map.of(SWITCH, on)));
    }
  }

  @Test
  void aNicThatReachesGpusByCudaAloneDoesNotFlush() {
    FabricException refusal = demand("efa", true, Map.of(CUDA, -FabricErrno.EOPNOTSUPP), Map.of());
    assertNotNull(refusal);
    assertEquals(FabricErrno.EOPNOTSUPP, refusal.errno());
    assertTrue(refusal.getMessage().contains("CUDA_API_PERMITTED"), refusal::getMessage);
    assertNotNull(demand("efa", true, Map.of(CUDA, -FabricErrno.ENOPROTOOPT), Map.of()));
  }

  /** Who finds no CUDA calls none. */
  @Test
  void withoutCudaNothingIsToBeForbidden() {
    assertNull(demand("efa", true, Map.of(CUDA, -FabricErrno.EINVAL), Map.of()));
  }
}
