package org.jofi.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DeviceAllocation;
import org.jofi.fabric.DeviceCopier;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;

/** What must hold on any driver: on the stand-in, and on a GPU. */
final class DriverChecks {
  private static final long PAGE = 4096;

  private DriverChecks() {}

  static void attributesTellTheAllocation() {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0)) {
      long first = memory.allocate(10_000);
      long second = memory.allocate(3);
      DeviceAllocation all = memory.allocation(first);
      DeviceAllocation inside = memory.allocation(first + 9_999);
      assertEquals(all, inside);
      assertEquals(first, all.address());
      assertTrue(all.lengthBytes() >= 10_000, all::toString);
      assertTrue(all.covers(first, 10_000), all::toString);
      assertEquals(MemoryKind.CUDA, all.kind());
      assertEquals(0, all.device());
      assertNotEquals(all.id(), memory.allocation(second).id());
      memory.free(first);
      long again = memory.allocate(10_000);
      assertNotEquals(all.id(), memory.allocation(again).id(), "an id was given twice");
      memory.free(again);
      memory.free(second);
      assertThrows(IllegalArgumentException.class, () -> memory.free(second));
      FabricException unknown =
          assertThrows(FabricException.class, () -> memory.allocation(0x1234));
      assertEquals(FabricErrno.EFAULT, unknown.errno());
      FabricException tooMuch =
          assertThrows(FabricException.class, () -> memory.allocate(1L << 50));
      assertEquals(FabricErrno.ENOMEM, tooMuch.errno());
      assertTrue(String.valueOf(tooMuch.getMessage()).contains("CUDA_ERROR_OUT_OF_MEMORY"));
    }
  }

  /**
   * What the registration cache of GPU memory stands on: an id is never given twice, and what was
   * freed no longer has its id. Returns how often an address came back.
   */
  static int freedMemoryLosesItsId(int rounds) {
    SplittableRandom random = new SplittableRandom(19);
    Set<Long> ids = new HashSet<>();
    Set<Long> addresses = new HashSet<>();
    List<DeviceAllocation> held = new ArrayList<>();
    int reused = 0;
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0)) {
      for (int i = 0; i < rounds; i++) {
        if (held.size() < 4 || (held.size() < 16 && random.nextBoolean())) {
          DeviceAllocation made = memory.allocation(memory.allocate(1L << random.nextInt(9, 23)));
          assertTrue(ids.add(made.id()), () -> made + ": its id was given before");
          reused += addresses.add(made.address()) ? 0 : 1;
          held.add(made);
        } else {
          DeviceAllocation freed = held.remove(random.nextInt(held.size()));
          memory.free(freed.address());
          assertNotEquals(freed.id(), idOrNone(memory, freed.address()), freed + " was freed");
        }
      }
      held.forEach(left -> memory.free(left.address()));
    }
    return reused;
  }

  private static long idOrNone(DeviceMemory memory, long address) {
    try {
      return memory.allocation(address).id();
    } catch (FabricException none) {
      return 0;
    }
  }

  static void pinnedMemoryIsHostMemory() {
    try (Arena arena = Arena.ofConfined();
        DeviceMemory memory = new CudaDeviceMemoryProvider().open(0)) {
      MemorySegment host = arena.allocate(4 * PAGE, PAGE);
      memory.pin(host.address(), host.byteSize());
      DeviceAllocation found = memory.allocation(host.address() + PAGE);
      assertEquals(MemoryKind.HOST, found.kind());
      FabricException twice =
          assertThrows(FabricException.class, () -> memory.pin(host.address(), host.byteSize()));
      assertEquals(FabricErrno.EBUSY, twice.errno());
      memory.unpin(host.address());
      assertThrows(FabricException.class, () -> memory.unpin(host.address()));
    }
  }

  static void copiesKeepEveryByte(long... lengths) {
    try (Arena arena = Arena.ofConfined();
        DeviceMemory memory = new CudaDeviceMemoryProvider().open(0)) {
      SplittableRandom random = new SplittableRandom(7);
      for (long length : lengths) {
        MemorySegment from = arena.allocate(length, 8);
        MemorySegment to = arena.allocate(length + 1, 8);
        for (long at = 0; at < length; at++) {
          from.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
        }
        to.set(ValueLayout.JAVA_BYTE, length, (byte) 0x5a);
        long device = memory.allocate(length);
        memory.copyFromHost(from.address(), device, length);
        memory.copyToHost(device, to.address(), length);
        assertEquals(-1, from.mismatch(to.asSlice(0, length)), () -> length + " bytes");
        assertEquals((byte) 0x5a, to.get(ValueLayout.JAVA_BYTE, length));
        memory.free(device);
      }
    }
  }

  /** Chunks go to the device and back on one stream, several under way, and none is mixed up. */
  static void chunksKeepTheirOrder(int chunks, int chunkBytes) {
    int slots = 4;
    try (Arena arena = Arena.ofConfined();
        CudaContext context = CudaContext.retain(0);
        CopyStream stream = context.openStream(2 * slots)) {
      MemorySegment in = arena.allocate((long) slots * chunkBytes, PAGE);
      MemorySegment out = arena.allocate((long) slots * chunkBytes, PAGE);
      context.pin(in.address(), in.byteSize());
      context.pin(out.address(), out.byteSize());
      DevicePointer device = context.allocate((long) slots * chunkBytes);
      long[] back = new long[slots];
      for (int chunk = 0; chunk < chunks + slots; chunk++) {
        int slot = chunk % slots;
        long at = (long) slot * chunkBytes;
        if (chunk >= slots) {
          int before = chunk - slots;
          await(stream, (int) back[slot]);
          for (long i = 0; i < chunkBytes; i++) {
            assertEquals(pattern(before, i), out.get(ValueLayout.JAVA_BYTE, at + i));
          }
        }
        if (chunk < chunks) {
          for (long i = 0; i < chunkBytes; i++) {
            in.set(ValueLayout.JAVA_BYTE, at + i, pattern(chunk, i));
          }
          int there = stream.toDevice(in.address() + at, device.plus(at).address(), chunkBytes);
          assertTrue(there >= 0, () -> "errno " + there + " " + stream.failureText());
          int here = stream.toHost(device.plus(at).address(), out.address() + at, chunkBytes);
          assertTrue(here >= 0, () -> "errno " + here + " " + stream.failureText());
          await(stream, there);
          back[slot] = here;
        }
      }
      context.free(device);
      context.unpin(in.address());
      context.unpin(out.address());
    }
  }

  private static byte pattern(long chunk, long at) {
    return (byte) (chunk * 31 + at);
  }

  static void aFullStreamSaysSo() {
    try (Arena arena = Arena.ofConfined();
        CudaContext context = CudaContext.retain(0);
        CopyStream stream = context.openStream(2)) {
      MemorySegment host = arena.allocate(PAGE, PAGE);
      DevicePointer device = context.allocate(PAGE);
      int first = stream.toHost(device.address(), host.address(), PAGE);
      int second = stream.toDevice(host.address(), device.address(), PAGE);
      assertEquals(-FabricErrno.EAGAIN, stream.toHost(device.address(), host.address(), PAGE));
      await(stream, first);
      assertThrows(IllegalArgumentException.class, () -> stream.test(first));
      await(stream, second);
      context.free(device);
    }
  }

  /** Everything works on a thread, and in a process, where another stream is being captured. */
  static void worksDuringCapture() {
    try (Arena arena = Arena.ofConfined();
        CudaContext context = CudaContext.retain(0);
        CopyStream captured = context.openStream(1);
        CopyStream stream = context.openStream(2)) {
      MemorySegment graph = arena.allocate(ValueLayout.ADDRESS);
      context.call(
          "cuStreamBeginCapture",
          "",
          scratch ->
              CudaDriver.cuStreamBeginCapture_v2(
                  captured.handle(), CudaDriver.CU_STREAM_CAPTURE_MODE_GLOBAL()));
      MemorySegment host = arena.allocate(2 * PAGE, PAGE);
      MemorySegment text = arena.allocateFrom("made while another stream is captured");
      DevicePointer device = context.allocate(PAGE);
      context.pin(host.address(), host.byteSize());
      MemorySegment.copy(text, 0, host, 0, text.byteSize());
      await(stream, stream.toDevice(host.address(), device.address(), text.byteSize()));
      await(stream, stream.toHost(device.address(), host.address() + PAGE, text.byteSize()));
      assertEquals(text.getString(0), host.getString(PAGE));
      context.attributes(device);
      context.unpin(host.address());
      context.free(device);
      context.call(
          "cuStreamEndCapture",
          "",
          scratch -> CudaDriver.cuStreamEndCapture(captured.handle(), graph));
      MemorySegment made = graph.get(ValueLayout.ADDRESS, 0);
      assertNotEquals(0, made.address(), "the capture was invalidated");
      context.call("cuGraphDestroy", "", scratch -> CudaDriver.cuGraphDestroy(made));
    }
  }

  /** Exports device memory as a dma-buf where the device can; what came of it. */
  static String dmaBufOrWhyNot() {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0)) {
      long device = memory.allocate(1 << 21);
      try {
        DmaBuf exported = memory.exportDmaBuf(device + 4097, 8192);
        assertEquals(1, exported.offsetBytes());
        memory.closeDmaBuf(exported);
        assertThrows(IllegalArgumentException.class, () -> memory.closeDmaBuf(exported));
        return "exported";
      } catch (FabricException refused) {
        assertTrue(
            !memory.description().dmaBuf() || refused.errno() != FabricErrno.EINVAL,
            refused::toString);
        return "not exported: " + refused.getMessage();
      } finally {
        memory.free(device);
      }
    }
  }

  /** Flushes where the device can; what came of it. */
  static String flushOrWhyNot() {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0)) {
      int answer = memory.flushRemoteWrites();
      boolean possible = memory.description().flush() == DeviceProbe.FlushCall.HOST;
      if (possible) {
        assertEquals(0, answer);
      }
      return answer == 0 ? "flushed" : "no flush: " + FabricErrno.name(-answer);
    }
  }

  static void closingInTheWrongOrderIsRefused() {
    CudaContext context = CudaContext.retain(0);
    DevicePointer device = context.allocate(1);
    CopyStream stream = context.openStream(1);
    DeviceAdder adder = context.openAdder();
    IllegalStateException refused = assertThrows(IllegalStateException.class, context::close);
    assertTrue(
        String.valueOf(refused.getMessage()).contains("1 allocations, 2 streams and 1 modules"),
        refused::getMessage);
    context.free(device);
    stream.close();
    stream.close();
    refused = assertThrows(IllegalStateException.class, context::close);
    assertTrue(
        String.valueOf(refused.getMessage()).contains("0 allocations, 1 streams and 1 modules"),
        refused::getMessage);
    adder.close();
    adder.close();
    assertThrows(IllegalStateException.class, () -> adder.addFloats(4, 8, 1));
    context.close();
    context.close();
    assertThrows(IllegalStateException.class, () -> context.allocate(1));
  }

  static void await(DeviceCopier stream, int copy) {
    assertTrue(copy >= 0, () -> FabricErrno.name(-copy) + " " + stream.failureText());
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    int state = stream.test(copy);
    while (state == DeviceCopier.IN_PROGRESS) {
      assertTrue(System.nanoTime() < end, "a copy hangs");
      Thread.onSpinWait();
      state = stream.test(copy);
    }
    assertEquals(DeviceCopier.DONE, state, stream::failureText);
  }
}
