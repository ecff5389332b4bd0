package org.jofi.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jofi.allocation.Allocation;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On a stand-in for the driver that holds callers to its rules. */
class CudaContextTest {
  private static final int DMA_BUF = CudaDriver.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED();
  private static final int FLUSH =
      CudaDriver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS();

  @BeforeEach
  void install() throws Exception {
    CudaDouble.install();
    CudaDouble.fail("none", 0, 0);
    CudaDouble.setCurrent(0);
    CudaDouble.setMode(0);
    CudaDouble.attribute(DMA_BUF, 1);
    CudaDouble.attribute(FLUSH, 3);
  }

  @AfterEach
  void nothingStays() {
    assertEquals(0, CudaDouble.open(), "left open");
    assertEquals(0, CudaDouble.current(), "a context stays current");
    assertEquals(0, CudaDouble.mode(), "another capture mode stays");
  }

  @Test
  void attributesTellTheAllocation() {
    DriverChecks.attributesTellTheAllocation();
  }

  @Test
  void freedMemoryLosesItsId() {
    DriverChecks.freedMemoryLosesItsId(200);
  }

  @Test
  void pinnedMemoryIsHostMemory() {
    DriverChecks.pinnedMemoryIsHostMemory();
  }

  @Test
  void copiesKeepEveryByte() {
    DriverChecks.copiesKeepEveryByte(1, 2, 63, 4096, 1_000_003);
  }

  @Test
  void chunksKeepTheirOrder() {
    DriverChecks.chunksKeepTheirOrder(50, 1000);
  }

  @Test
  void aFullStreamSaysSo() {
    DriverChecks.aFullStreamSaysSo();
  }

  @Test
  void worksDuringCapture() {
    DriverChecks.worksDuringCapture();
  }

  @Test
  void sumsAreExact() {
    AdderChecks.sumsAreExact(1, 2, 255, 256, 257, 524_289, 1_000_003);
  }

  @Test
  void wrongSumsAreRefused() {
    AdderChecks.wrongSumsAreRefused();
  }

  @Test
  void sumsWorkDuringCapture() {
    AdderChecks.sumsDuringCapture();
  }

  @Test
  void aSumOfAnotherDevicesMemoryFailsAndTheNextOneWorks() {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0);
        DeviceMemory other = new CudaDeviceMemoryProvider().open(1);
        DeviceAdder adder = memory.openAdder()) {
      long here = memory.allocate(64);
      long there = other.allocate(64);
      FabricException failed =
          assertThrows(FabricException.class, () -> adder.addFloats(here, there, 16));
      assertEquals(FabricErrno.EFAULT, failed.errno());
      assertTrue(String.valueOf(failed.getMessage()).contains("cuLaunchKernel"), failed::toString);
      assertThrows(FabricException.class, () -> adder.addFloats(here, here, 17));
      CudaDouble.fail("cuStreamQuery", CudaDriver.CUDA_ERROR_LAUNCH_FAILED(), 1);
      failed = assertThrows(FabricException.class, () -> adder.addFloats(here, here + 32, 8));
      assertEquals(FabricErrno.EIO, failed.errno());
      adder.addFloats(here, here + 32, 8);
      memory.free(here);
      other.free(there);
    }
  }

  @Test
  void copiesAreExact() {
    AdderChecks.copiesAreExact(1, 3, 4096, 100_001);
  }

  @Test
  void aCopyOfAnotherDevicesMemoryFailsAndTheNextOneWorks() {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0);
        DeviceMemory other = new CudaDeviceMemoryProvider().open(1);
        DeviceAdder adder = memory.openAdder()) {
      long here = memory.allocate(64);
      long there = other.allocate(64);
      CudaDouble.fail("cuMemcpyDtoDAsync_v2", CudaDriver.CUDA_ERROR_ILLEGAL_ADDRESS(), 1);
      FabricException failed =
          assertThrows(FabricException.class, () -> adder.copy(here, here + 32, 32));
      assertTrue(
          String.valueOf(failed.getMessage()).contains("cuMemcpyDtoDAsync"), failed::toString);
      assertThrows(FabricException.class, () -> adder.copy(here, here + 32, 33));
      assertThrows(IllegalArgumentException.class, () -> adder.copy(here, here, -1));
      adder.copy(here, here, 0);
      assertAllocatesNothing(() -> adder.copy(here, here + 32, 32));
      memory.free(here);
      other.free(there);
    }
  }

  @Test
  void whatFailsWhileAnAdderOpensLeavesNothingOpen() {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0)) {
      for (String function :
          new String[] {"cuModuleLoadData", "cuModuleGetFunction", "cuStreamCreate"}) {
        CudaDouble.fail(function, CudaDriver.CUDA_ERROR_OUT_OF_MEMORY(), 1);
        FabricException refused = assertThrows(FabricException.class, memory::openAdder);
        assertEquals(FabricErrno.ENOMEM, refused.errno());
        assertTrue(String.valueOf(refused.getMessage()).contains(function), refused::toString);
      }
    }
  }

  @Test
  void aSumThatDoesNotEndIsGivenUp() {
    try (CudaContext context = CudaContext.retain(0);
        DeviceAdder adder = context.openAdder(Duration.ofMillis(50))) {
      long array = context.allocate(64).address();
      CudaDouble.fail("cuStreamQuery", CudaDriver.CUDA_ERROR_NOT_READY(), Integer.MAX_VALUE);
      FabricException late =
          assertThrows(FabricException.class, () -> adder.addFloats(array, array + 32, 8));
      assertEquals(FabricErrno.ETIMEDOUT, late.errno());
      CudaDouble.fail("none", 0, 0);
      context.free(new DevicePointer(array));
    }
  }

  @Test
  void sumsAllocateNothing() {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0);
        DeviceAdder adder = memory.openAdder()) {
      long array = memory.allocate(64);
      assertAllocatesNothing(() -> adder.addFloats(array, array + 32, 8));
      memory.free(array);
    }
  }

  @Test
  void dmaBufsAreExportedByPage() {
    assertEquals("exported", DriverChecks.dmaBufOrWhyNot());
    CudaDouble.attribute(DMA_BUF, 0);
    String refused = DriverChecks.dmaBufOrWhyNot();
    assertTrue(refused.contains("EOPNOTSUPP"), refused);
  }

  @Test
  void flushesWhereItCan() {
    assertEquals("flushed", DriverChecks.flushOrWhyNot());
    CudaDouble.attribute(FLUSH, 0);
    CudaDouble.fail("cuFlushGPUDirectRDMAWrites", CudaDriver.CUDA_ERROR_NOT_SUPPORTED(), 1);
    assertEquals("no flush: EOPNOTSUPP", DriverChecks.flushOrWhyNot());
  }

  @Test
  void closingInTheWrongOrderIsRefused() {
    DriverChecks.closingInTheWrongOrderIsRefused();
  }

  @Test
  void aCallersContextAndCaptureModeStay() {
    try (DeviceMemory other = new CudaDeviceMemoryProvider().open(1);
        CudaContext context = CudaContext.retain(0);
        CudaContext second = CudaContext.retain(1)) {
      assertTrue(context.handle() != second.handle());
      CudaDouble.setCurrent(second.handle());
      CudaDouble.setMode(1);
      DevicePointer device = context.allocate(100);
      assertEquals(0, context.attributes(device).device());
      try (CopyStream stream = context.openStream(1);
          Arena arena = Arena.ofConfined()) {
        MemorySegment host = arena.allocate(100);
        DriverChecks.await(stream, stream.toHost(device.address(), host.address(), 100));
      }
      try (DeviceAdder adder = context.openAdder()) {
        adder.addFloats(device.address(), device.address() + 48, 12);
      }
      assertEquals(second.handle(), CudaDouble.current());
      assertEquals(1, CudaDouble.mode());
      context.free(device);
      assertEquals(1, other.description().ordinal());
    } finally {
      CudaDouble.setCurrent(0);
      CudaDouble.setMode(0);
    }
  }

  @Test
  void threadsUseAContextAtOnce() throws Exception {
    try (CudaContext context = CudaContext.retain(0);
        ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (var done :
          threads.invokeAll(
              java.util.Collections.nCopies(
                  4,
                  () -> {
                    for (int i = 0; i < 50; i++) {
                      context.free(context.allocate(1000 + i));
                    }
                    return CudaDouble.current();
                  }))) {
        assertEquals(0L, done.get());
      }
    }
  }

  @Test
  void aFailedCopyIsAnErrnoWithTheDriversWords() {
    try (Arena arena = Arena.ofConfined();
        CudaContext context = CudaContext.retain(0);
        CopyStream stream = context.openStream(2)) {
      MemorySegment host = arena.allocate(100);
      DevicePointer device = context.allocate(100);
      CudaDouble.fail("cuMemcpyDtoHAsync_v2", CudaDriver.CUDA_ERROR_ILLEGAL_ADDRESS(), 1);
      assertEquals(-FabricErrno.EFAULT, stream.toHost(device.address(), host.address(), 100));
      assertTrue(stream.failureText().contains("700"), stream::failureText);
      int copy = stream.toHost(device.address(), host.address(), 100);
      CudaDouble.fail("cuEventQuery", CudaDriver.CUDA_ERROR_LAUNCH_FAILED(), 1);
      assertEquals(-FabricErrno.EIO, stream.test(copy));
      context.free(device);
    }
  }

  @Test
  void whatFailsOnTheWayLeavesNothingOpen() {
    CudaDouble.fail("cuEventCreate", CudaDriver.CUDA_ERROR_OUT_OF_MEMORY(), 1);
    try (CudaContext context = CudaContext.retain(0)) {
      FabricException refused = assertThrows(FabricException.class, () -> context.openStream(3));
      assertEquals(FabricErrno.ENOMEM, refused.errno());
      CudaDouble.fail("cuPointerSetAttribute", CudaDriver.CUDA_ERROR_UNKNOWN(), 1);
      assertThrows(FabricException.class, () -> context.allocate(10));
      CudaDouble.fail("cuThreadExchangeStreamCaptureMode", CudaDriver.CUDA_ERROR_UNKNOWN(), 1);
      assertThrows(FabricException.class, () -> context.allocate(10));
    }
    CudaDouble.fail("cuDeviceGetName", CudaDriver.CUDA_ERROR_UNKNOWN(), 1);
    assertThrows(FabricException.class, () -> new CudaDeviceMemoryProvider().open(0));
  }

  @Test
  void probingTellsWhatEachDeviceCan() {
    CudaDouble.attribute(CudaDriver.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID(), 2);
    CudaDouble.attribute(CudaDriver.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID(), 3);
    CudaDouble.attribute(CudaDriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR(), 9);
    CudaDouble.attribute(CudaDriver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED(), 1);
    CudaDouble.attribute(CudaDriver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING(), 100);
    DeviceProbe probe = new CudaDeviceMemoryProvider().probe();
    assertTrue(probe.isUsable(), probe::toString);
    assertTrue(probe.driver().startsWith("CUDA driver API 13.0 from "), probe::driver);
    assertEquals(2, probe.devices().size());
    DeviceProbe.Device second = probe.devices().get(1);
    assertEquals("Double 1", second.name());
    assertEquals("0002:61:03.0", second.pci().orElseThrow().toString());
    assertEquals("9.0", second.capability());
    assertEquals(1L << 36, second.memoryBytes());
    assertTrue(second.gpuDirect() && second.dmaBuf());
    assertEquals(DeviceProbe.FlushCall.HOST, second.flush());
    assertEquals(DeviceProbe.WriteOrdering.OWNER, second.ordering());
  }

  @Test
  void noDeviceIsAnAnswer() {
    CudaDouble.fail("cuInit", CudaDriver.CUDA_ERROR_NO_DEVICE(), 2);
    DeviceProbe probe = new CudaDeviceMemoryProvider().probe();
    assertTrue(!probe.isUsable() && !probe.remedy().isEmpty(), probe::toString);
    CudaDouble.fail("cuInit", CudaDriver.CUDA_ERROR_NO_DEVICE(), 2);
    FabricUnavailableException missing =
        assertThrows(FabricUnavailableException.class, () -> CudaContext.retain(0));
    assertTrue(String.valueOf(missing.getMessage()).startsWith("no CUDA device 0: "));
    assertThrows(FabricUnavailableException.class, () -> CudaContext.retain(9));
    assertThrows(FabricUnavailableException.class, () -> CudaContext.retain(-1));
  }

  @Test
  void copiesAllocateNothing() {
    try (Arena arena = Arena.ofConfined();
        CudaContext context = CudaContext.retain(0);
        CopyStream stream = context.openStream(2)) {
      MemorySegment host = arena.allocate(64);
      DevicePointer device = context.allocate(64);
      long address = device.address();
      assertAllocatesNothing(
          () -> {
            int copy = stream.toHost(address, host.address(), 64);
            while (stream.test(copy) == CopyStream.IN_PROGRESS) {
              Thread.onSpinWait();
            }
          });
      context.free(device);
    }
  }

  private static void assertAllocatesNothing(Runnable call) {
    Allocation.assertNone(
        () -> {
          for (int i = 0; i < 5_000; i++) {
            call.run();
          }
        });
  }
}
