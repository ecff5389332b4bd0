package org.jofi.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.PciAddress;

/** The GPUs of this machine. Any thread. */
public final class CudaDevices {
  private static final int NAME_BYTES = 256;

  private CudaDevices() {}

  /**
   * Loads the driver and asks for its devices: cuInit, cuDeviceGetCount, cuDeviceGetAttribute. It
   * makes no context. If there is no driver, no device or no permission, the result says so; no
   * exception is thrown.
   */
  public static DeviceProbe probe() {
    CudaLibrary library;
    try {
      library = CudaLibrary.load();
    } catch (FabricUnavailableException missing) {
      List<String> lines = String.valueOf(missing.getMessage()).lines().toList();
      return nothing("", String.join("\n", lines.subList(0, lines.size() - 2)), remedy(lines));
    }
    int answer = CudaDriver.cuInit(0);
    String driver = driver(library);
    if (answer != CudaDriver.CUDA_SUCCESS()) {
      DriverObstacle obstacle =
          DriverObstacle.ofInit(
              answer,
              DriverErrors.words(answer),
              Path.of("/dev"),
              node -> Files.isReadable(node) && Files.isWritable(node),
              System::getenv);
      return nothing(driver, obstacle.reason(), obstacle.remedy());
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
      DriverErrors.check(CudaDriver.cuDeviceGetCount(count), "cuDeviceGetCount", driver);
      List<DeviceProbe.Device> devices = new ArrayList<>();
      for (int ordinal = 0; ordinal < count.get(ValueLayout.JAVA_INT, 0); ordinal++) {
        devices.add(describe(ordinal));
      }
      return devices.isEmpty()
          ? nothing(driver, "the driver lists no GPU", "see what nvidia-smi -L lists")
          : new DeviceProbe(MemoryKind.CUDA, driver, devices, "", "");
    }
  }

  private static String remedy(List<String> lines) {
    return String.join(" ", lines.subList(lines.size() - 2, lines.size()));
  }

  private static DeviceProbe nothing(String driver, String reason, String remedy) {
    return new DeviceProbe(MemoryKind.CUDA, driver, List.of(), reason, remedy);
  }

  private static String driver(CudaLibrary library) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment version = arena.allocate(ValueLayout.JAVA_INT);
      String words = "";
      if (CudaDriver.cuDriverGetVersion(version) == CudaDriver.CUDA_SUCCESS()) {
        int number = version.get(ValueLayout.JAVA_INT, 0);
        words = " %d.%d".formatted(number / 1000, number % 1000 / 10);
      }
      return "CUDA driver API%s from %s".formatted(words, library.file());
    }
  }

  /** Describes a device. The driver must be loaded and initialised. */
  static DeviceProbe.Device describe(int ordinal) {
    String where = "CUDA device " + ordinal;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
      DriverErrors.check(CudaDriver.cuDeviceGet(word, ordinal), "cuDeviceGet", where);
      int device = word.get(ValueLayout.JAVA_INT, 0);
      MemorySegment name = arena.allocate(NAME_BYTES);
      DriverErrors.check(
          CudaDriver.cuDeviceGetName(name, NAME_BYTES, device), "cuDeviceGetName", where);
      DriverErrors.check(CudaDriver.cuDeviceTotalMem_v2(word, device), "cuDeviceTotalMem", where);
      long bytes = word.get(ValueLayout.JAVA_LONG, 0);
      PciAddress pci =
          new PciAddress(
              attribute(word, device, CudaDriver.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID()),
              attribute(word, device, CudaDriver.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID()),
              attribute(word, device, CudaDriver.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID()),
              0);
      String capability =
          "%d.%d"
              .formatted(
                  attribute(
                      word, device, CudaDriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR()),
                  attribute(
                      word, device, CudaDriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR()));
      return new DeviceProbe.Device(
          ordinal,
          name.getString(0),
          Optional.of(pci),
          bytes,
          capability,
          attribute(word, device, CudaDriver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED()) == 1,
          attribute(word, device, CudaDriver.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED()) == 1
              && CudaLibrary.has("cuMemGetHandleForAddressRange"),
          flush(
              attribute(
                  word,
                  device,
                  CudaDriver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS())),
          ordering(
              attribute(
                  word, device, CudaDriver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING())));
    }
  }

  /** The value of an attribute; 0 if the driver is too old to know it. */
  private static int attribute(MemorySegment word, int device, int attribute) {
    int answer = CudaDriver.cuDeviceGetAttribute(word, attribute, device);
    if (answer == CudaDriver.CUDA_ERROR_INVALID_VALUE()) {
      return 0;
    }
    DriverErrors.check(answer, "cuDeviceGetAttribute", "attribute " + attribute);
    return word.get(ValueLayout.JAVA_INT, 0);
  }

  static DeviceProbe.FlushCall flush(int options) {
    if ((options & CudaDriver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST()) != 0
        && CudaLibrary.has("cuFlushGPUDirectRDMAWrites")) {
      return DeviceProbe.FlushCall.HOST;
    }
    return (options & CudaDriver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS()) != 0
        ? DeviceProbe.FlushCall.STREAM
        : DeviceProbe.FlushCall.NONE;
  }

  static DeviceProbe.WriteOrdering ordering(int attribute) {
    // CU_GPU_DIRECT_RDMA_WRITES_ORDERING_*: 0 none, 100 the owner, 200 all devices.
    return switch (attribute) {
      case 100 -> DeviceProbe.WriteOrdering.OWNER;
      case 200 -> DeviceProbe.WriteOrdering.ALL;
      default -> DeviceProbe.WriteOrdering.NONE;
    };
  }
}
