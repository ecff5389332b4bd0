package org.jofi.cuda;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jofi.cuda.bindings.CudaDriver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverObstacleTest {
  @TempDir private Path devices;
  private boolean permitted = true;

  private void assertSays(int answer, String visible, String reason, String remedy) {
    DriverObstacle found =
        DriverObstacle.ofInit(
            answer,
            "the driver's words",
            devices,
            node -> permitted,
            name -> visible.isEmpty() || !name.equals("CUDA_VISIBLE_DEVICES") ? null : visible);
    assertTrue(found.reason().contains(reason), found::toString);
    assertTrue(found.remedy().contains(remedy), found::toString);
  }

  @Test
  void aStubIsNoDriver() {
    assertSays(CudaDriver.CUDA_ERROR_STUB_LIBRARY(), "", "stub", "LD_LIBRARY_PATH");
  }

  @Test
  void driversThatDoNotMatch() {
    assertSays(CudaDriver.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH(), "", "different driver", "reboot");
  }

  @Test
  void withoutANodeNoGpuIsPassedIn() {
    assertSays(CudaDriver.CUDA_ERROR_NO_DEVICE(), "", "no NVIDIA GPU", "--gpus all");
    assertSays(CudaDriver.CUDA_ERROR_UNKNOWN(), "", "the driver's words", "modprobe nvidia");
  }

  @Test
  void anEmptyChoiceOfDevicesIsNamed() {
    assertSays(CudaDriver.CUDA_ERROR_NO_DEVICE(), "-1", "CUDA_VISIBLE_DEVICES=-1", "unset");
  }

  @Test
  void whoMayNotOpenTheNodeIsTold() throws Exception {
    Path control = Files.createFile(devices.resolve("nvidiactl"));
    assertSays(CudaDriver.CUDA_ERROR_UNKNOWN(), "", "cuInit failed", "nvidia-smi");
    permitted = false;
    assertSays(CudaDriver.CUDA_ERROR_UNKNOWN(), "", "may not open", "ls -l " + control);
  }
}
