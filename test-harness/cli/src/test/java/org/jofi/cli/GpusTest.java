package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.MemoryKind;
import org.jofi.rdma.RdmaTransport;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.runtime.Machine;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Test;

class GpusTest {
  private final DeviceMemory memory = new SimulatedProvider().host().openDevice(MemoryKind.CUDA);

  /** A driver with so many GPUs; without any it says why. */
  private Gpus gpus(int count) {
    return new Gpus(
        Optional.of(
            new DeviceMemoryProvider() {
              @Override
              public MemoryKind kind() {
                return MemoryKind.CUDA;
              }

              @Override
              public DeviceProbe probe() {
                List<DeviceProbe.Device> devices =
                    IntStream.range(0, count).mapToObj(i -> memory.description()).toList();
                return count == 0
                    ? new DeviceProbe(kind(), "", devices, "the bus is empty", "Plug one in.")
                    : new DeviceProbe(kind(), "driver", devices, "", "");
              }

              @Override
              public DeviceMemory open(int device) {
                assertTrue(device < count, "opened GPU " + device);
                return memory;
              }
            }));
  }

  private static void assertRefuses(String words, Gpus gpus, int gpu) {
    assertEquals(words, gpus.obstacle(gpu));
    TransportException refusal =
        assertThrows(TransportException.class, () -> gpus.open(gpu), words);
    assertEquals(FailureCause.UNAVAILABLE, refusal.failure().cause());
    assertEquals(words, refusal.getMessage());
  }

  @Test
  void saysWhatIsMissing() {
    Gpus none = new Gpus(Optional.empty());
    assertRefuses("the jofi-cuda jar is not on the module path", none, 0);
    assertThrows(TransportException.class, none::count);
    Gpus empty = gpus(0);
    assertRefuses("there is no GPU: the bus is empty. Plug one in.", empty, 0);
    assertThrows(TransportException.class, empty::count);
    assertRefuses("there is no GPU 5: there are 2, numbered from 0", gpus(2), 5);
    assertRefuses("there is no GPU 2: there are 2, numbered from 0", gpus(2), 2);
  }

  @Test
  void opensWhatIsThere() {
    assertEquals(2, gpus(2).count());
    assertEquals("", gpus(2).obstacle(1));
    assertSame(memory, gpus(2).open(1));
  }

  @Test
  void aDeviceMayTakeNoGpuMemory() {
    assertEquals("simulated-tcp takes no GPU memory (no FI_HMEM)", obstacleOf("simulated-tcp"));
    assertEquals("", obstacleOf("simulated-efa"));
  }

  /** In a transport that nothing drives GPU memory for, so that it cannot be staged. */
  private String obstacleOf(String provider) {
    RdmaEnvironment withoutDriver =
        Machine.environment().withDeviceMemory(kind -> Optional.empty());
    try (Transport transport =
        RdmaTransport.open(
            new SimulatedProvider(),
            TransportOptions.builder().provider(provider).build(),
            withoutDriver)) {
      return gpus(2).obstacle(0, transport.devices().getFirst());
    }
  }

  @Test
  void ranksTakeTurns() {
    GpuChoice all = new GpuChoice(List.of());
    assertEquals(
        List.of(0, 1, 2, 0), IntStream.range(0, 4).mapToObj(rank -> all.of(rank, 3)).toList());
    GpuChoice listed = GpuChoice.parse("3, 1");
    assertEquals(
        List.of(3, 1, 3), IntStream.range(0, 3).mapToObj(rank -> listed.of(rank, 8)).toList());
    for (String wrong : List.of("", "0,", "x", "-1", "0 1", "99999")) {
      assertThrows(IllegalArgumentException.class, () -> GpuChoice.parse(wrong), wrong);
    }
  }
}
