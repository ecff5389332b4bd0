package org.jofi.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.DeviceProperties.Rail;

/**
 * The struct ncclNetProperties_v11_t. That of version 10 is the same without the last member. Any
 * thread.
 *
 * <p>Strings in it must stay valid for every caller. They are kept until the process ends, one copy
 * of each.
 */
final class PropertiesStruct {
  /** The layout of the newest version. */
  static final StructLayout LAYOUT =
      MemoryLayout.structLayout(
          ValueLayout.JAVA_LONG.withName("name"),
          ValueLayout.JAVA_LONG.withName("pciPath"),
          ValueLayout.JAVA_LONG.withName("guid"),
          ValueLayout.JAVA_INT.withName("ptrSupport"),
          ValueLayout.JAVA_INT.withName("regIsGlobal"),
          ValueLayout.JAVA_INT.withName("forceFlush"),
          ValueLayout.JAVA_INT.withName("speed"),
          ValueLayout.JAVA_INT.withName("port"),
          ValueLayout.JAVA_FLOAT.withName("latency"),
          ValueLayout.JAVA_INT.withName("maxComms"),
          ValueLayout.JAVA_INT.withName("maxRecvs"),
          ValueLayout.JAVA_INT.withName("netDeviceType"),
          ValueLayout.JAVA_INT.withName("netDeviceVersion"),
          ValueLayout.JAVA_INT.withName("memberCount"),
          MemoryLayout.sequenceLayout(4, ValueLayout.JAVA_INT).withName("members"),
          MemoryLayout.paddingLayout(4),
          ValueLayout.JAVA_LONG.withName("maxP2pBytes"),
          ValueLayout.JAVA_LONG.withName("maxCollBytes"),
          ValueLayout.JAVA_INT.withName("maxMultiRequestSize"),
          MemoryLayout.paddingLayout(4));

  /** NCCL_PTR_HOST, NCCL_PTR_CUDA, NCCL_PTR_DMABUF. */
  static final int HOST = 1;

  static final int CUDA = 2;
  static final int DMA_BUF = 4;

  /** NCCL gets the lengths of messages as int. */
  static final long MOST_MESSAGE_BYTES = 1 << 30;

  private static final float NANOS_PER_MICRO = 1e3f;

  private static final String SYSFS = "/sys/devices/";

  private static final Map<String, MemorySegment> STRINGS = new ConcurrentHashMap<>();

  private PropertiesStruct() {}

  /**
   * The kinds of memory that a device supports. Software providers that copy through the GPU's
   * driver report device memory as well, but there NCCL's own copies through pinned memory are
   * better.
   *
   * <p>dma-bufs are never included, since no device reports whether its NICs accept them. Without
   * them NCCL passes pointers. The transport then exports dma-bufs itself, and registers by address
   * if they are refused.
   */
  static int pointerSupport(DeviceProperties device) {
    boolean hardware = device.rails().stream().allMatch(rail -> rail.pci().isPresent());
    boolean direct =
        device.memory().stream().anyMatch(path -> path.kind() == MemoryKind.CUDA && path.direct());
    return hardware && direct ? HOST | CUDA : HOST;
  }

  /** Fills in the struct at an address. */
  static void put(DeviceProperties device, long address) {
    MemorySegment struct = RawMemory.slice(address, LAYOUT.byteSize()).fill((byte) 0);
    set(struct, "name", string(device.name()));
    device.pciPath().ifPresent(path -> set(struct, "pciPath", string(SYSFS + path)));
    set(struct, "guid", guid(device));
    set(struct, "ptrSupport", pointerSupport(device));
    // A region belongs to the communicator that it was registered with.
    set(struct, "regIsGlobal", 0);
    set(struct, "speed", (int) Math.min(device.speedMegabitsPerSecond(), Integer.MAX_VALUE));
    set(struct, "port", 1);
    handle("latency").set(struct, 0L, device.latencyNanos() / NANOS_PER_MICRO);
    set(struct, "maxComms", device.limits().communicators());
    set(
        struct,
        "maxRecvs",
        Math.min(device.limits().groupedReceives(), PluginRecvComm.MAX_RECEIVES));
    set(struct, "memberCount", 1);
    struct.set(
        ValueLayout.JAVA_INT,
        LAYOUT.byteOffset(MemoryLayout.PathElement.groupElement("members")),
        device.index());
    long longest = Math.min(device.limits().maxMessageBytes(), MOST_MESSAGE_BYTES);
    set(struct, "maxP2pBytes", longest);
    set(struct, "maxCollBytes", longest);
    set(struct, "maxMultiRequestSize", 1);
  }

  /** An id of the NIC. It is the same for devices on one chip and in every call, and never 0. */
  private static long guid(DeviceProperties device) {
    Rail first = device.rails().getFirst();
    String chip =
        first
            .pci()
            .map(pci -> "%04x:%02x:%02x".formatted(pci.domain(), pci.bus(), pci.device()))
            .orElse(device.name());
    return ((long) chip.hashCode() << 32) | (device.provider().hashCode() & 0xFFFF_FFFFL) | 1;
  }

  private static long string(String text) {
    return STRINGS.computeIfAbsent(text, Arena.global()::allocateFrom).address();
  }

  private static void set(MemorySegment struct, String member, int value) {
    handle(member).set(struct, 0L, value);
  }

  private static void set(MemorySegment struct, String member, long value) {
    handle(member).set(struct, 0L, value);
  }

  private static VarHandle handle(String member) {
    return LAYOUT.varHandle(MemoryLayout.PathElement.groupElement(member));
  }
}
