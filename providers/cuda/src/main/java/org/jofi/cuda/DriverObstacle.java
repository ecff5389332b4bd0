package org.jofi.cuda;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jofi.cuda.bindings.CudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * Why there is no GPU to use, and what to do about it.
 *
 * @param reason in a sentence
 * @param remedy a command, or what to change
 */
record DriverObstacle(String reason, String remedy) {

  private static final String CONTROL_NODE = "nvidiactl";

  /**
   * What an error of cuInit means on this machine.
   *
   * @param answer the result of cuInit, not CUDA_SUCCESS
   * @param words the driver's text for it
   * @param devices the folder of device nodes, {@code /dev}
   * @param mayOpen whether this user may read and write a device node
   * @param environment reads a variable; null if it is not set
   */
  static DriverObstacle ofInit(
      int answer,
      String words,
      Path devices,
      Predicate<Path> mayOpen,
      UnaryOperator<@Nullable String> environment) {
    Path control = devices.resolve(CONTROL_NODE);
    if (answer == CudaDriver.CUDA_ERROR_STUB_LIBRARY()) {
      return new DriverObstacle(
          "libcuda.so.1 is the toolkit's stub, which is for linking alone",
          "take the toolkit's stubs folder out of LD_LIBRARY_PATH, and install the NVIDIA driver");
    }
    if (answer == CudaDriver.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH()) {
      return new DriverObstacle(
          "libcuda.so.1 and the loaded kernel module are of different driver versions",
          "reboot, or reload the module: modprobe -r nvidia_uvm nvidia && modprobe nvidia_uvm");
    }
    if (Files.exists(control) && !mayOpen.test(control)) {
      return new DriverObstacle(
          "this user may not open %s (%s)".formatted(control, words),
          "add the user to the group that owns it: ls -l " + control);
    }
    String visible = environment.apply("CUDA_VISIBLE_DEVICES");
    if (answer == CudaDriver.CUDA_ERROR_NO_DEVICE() && visible != null) {
      return new DriverObstacle(
          "CUDA_VISIBLE_DEVICES=%s leaves no GPU".formatted(visible),
          "unset CUDA_VISIBLE_DEVICES, or name a GPU that nvidia-smi -L lists");
    }
    if (!Files.exists(control)) {
      return new DriverObstacle(
          "there is no %s: no NVIDIA GPU is passed to this system (%s)".formatted(control, words),
          "on the machine itself: modprobe nvidia && nvidia-smi; in a container: run it with"
              + " --gpus all");
    }
    return new DriverObstacle("cuInit failed: " + words, "see what nvidia-smi says");
  }
}
