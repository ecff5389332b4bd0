package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;

class DeviceSumsTest {

  @Test
  void aPretendedDeviceAddsItsOwnMemoryOnly() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open();
        Arena arena = Arena.ofConfined()) {
      SimulatedDevice device = simulation.host(0).openDevice(MemoryKind.CUDA);
      MemorySegment host = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, 2, 3, 10, 20, 30);
      long array = device.allocate(host.byteSize());
      device.copyFromHost(host.address(), array, host.byteSize());
      DeviceAdder adder = device.openAdder();
      adder.addFloats(array + 4, array + 12, 2);
      adder.addFloats(array, array, 0);
      assertRefused(adder, array, host.address(), 1);
      assertRefused(adder, host.address(), array, 1);
      assertRefused(adder, array, array + 4, 6);
      assertThrows(IllegalArgumentException.class, () -> adder.addFloats(array + 2, array, 1));
      assertThrows(IllegalArgumentException.class, () -> adder.addFloats(array, array, -1));
      device.copyToHost(array, host.address(), host.byteSize());
      float[] expected = {1, 12, 23, 10, 20, 30};
      for (int i = 0; i < expected.length; i++) {
        assertEquals(expected[i], host.getAtIndex(ValueLayout.JAVA_FLOAT, i));
      }
      assertEquals(2, device.sums());
      device.free(array);
      assertThrows(IllegalStateException.class, device::close);
      adder.close();
      adder.close();
      assertThrows(IllegalStateException.class, () -> adder.addFloats(array, array, 0));
      device.close();
    }
  }

  private static void assertRefused(DeviceAdder adder, long sum, long summand, long count) {
    FabricException refused =
        assertThrows(FabricException.class, () -> adder.addFloats(sum, summand, count));
    assertEquals(FabricErrno.EFAULT, refused.errno());
  }
}
