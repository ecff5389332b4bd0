package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.PciAddress;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.DeviceProperties.MemoryPath;
import org.jofi.transport.DeviceProperties.Rail;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PropertiesStructTest {
  private static final Optional<PciAddress> SLOT = Optional.of(new PciAddress(0, 0x3a, 0, 0));

  private static DeviceProperties device(
      Optional<PciAddress> pci, Optional<String> path, long speed, String cuda) {
    List<MemoryPath> memory =
        cuda.isEmpty()
            ? List.of(new MemoryPath(MemoryKind.HOST, true, "host"))
            : List.of(
                new MemoryPath(MemoryKind.HOST, true, "host"),
                new MemoryPath(MemoryKind.CUDA, cuda.equals("direct"), cuda));
    return new FakeProperties(
        2, "rdma0", path, speed, List.of(new Rail("rdma0", "fabric", "", pci, speed)), memory);
  }

  @ParameterizedTest
  @CsvSource({
    "name,0",
    "pciPath,8",
    "guid,16",
    "ptrSupport,24",
    "regIsGlobal,28",
    "forceFlush,32",
    "speed,36",
    "port,40",
    "latency,44",
    "maxComms,48",
    "maxRecvs,52",
    "netDeviceType,56",
    "netDeviceVersion,60",
    "memberCount,64",
    "members,68",
    "maxP2pBytes,88",
    "maxCollBytes,96",
    "maxMultiRequestSize,104"
  })
  void membersAreWhereNcclHasThem(String member, long offset) {
    assertEquals(offset, PropertiesStruct.LAYOUT.byteOffset(PathElement.groupElement(member)));
    assertEquals(112, PropertiesStruct.LAYOUT.byteSize());
  }

  @Test
  void whatTheDeviceIs() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = arena.allocate(112).fill((byte) 0xA5);
      PropertiesStruct.put(
          device(SLOT, Optional.of("pci0000:00/0000:3a:00.0"), 400_000, ""), struct.address());

      assertEquals("rdma0", string(struct, 0));
      assertEquals("/sys/devices/pci0000:00/0000:3a:00.0", string(struct, 8));
      assertEquals(400_000, struct.get(ValueLayout.JAVA_INT, 36));
      assertEquals(7.2f, struct.get(ValueLayout.JAVA_FLOAT, 44));
      assertEquals(1000, struct.get(ValueLayout.JAVA_INT, 48));
      assertEquals(8, struct.get(ValueLayout.JAVA_INT, 52));
      assertEquals(1, struct.get(ValueLayout.JAVA_INT, 64));
      assertEquals(2, struct.get(ValueLayout.JAVA_INT, 68));
      assertEquals(PropertiesStruct.MOST_MESSAGE_BYTES, struct.get(ValueLayout.JAVA_LONG, 88));
      assertEquals(1, struct.get(ValueLayout.JAVA_INT, 104));
    }
  }

  @Test
  void whatIsNotKnownIsLeftOut() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = arena.allocate(112).fill((byte) 0xA5);
      PropertiesStruct.put(device(Optional.empty(), Optional.empty(), 0, ""), struct.address());

      assertEquals(0, struct.get(ValueLayout.JAVA_LONG, 8));
      assertEquals(0, struct.get(ValueLayout.JAVA_INT, 36));
    }
  }

  /** Providers in software claim device memory as well, and copy. */
  @ParameterizedTest
  @CsvSource({"true, '', 1", "true, direct, 3", "true, staged, 1", "false, direct, 1"})
  void devicePointersAreTakenWhereTheyAreReachedDirectly(
      boolean hardware, String cuda, int expected) {
    assertEquals(
        expected,
        PropertiesStruct.pointerSupport(
            device(hardware ? SLOT : Optional.empty(), Optional.empty(), 1, cuda)));
  }

  private static String string(MemorySegment struct, long offset) {
    return RawMemory.slice(struct.get(ValueLayout.JAVA_LONG, offset), 256).getString(0);
  }
}
