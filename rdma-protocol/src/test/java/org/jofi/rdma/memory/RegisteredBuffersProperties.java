package org.jofi.rdma.memory;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jofi.allocation.Allocation;

class RegisteredBuffersProperties {

  /** Registers blocks, and looks that each is there when it is closed. */
  private static final class Registrar
      implements Function<MemorySegment, RegisteredBuffers.Registration> {
    final List<MemorySegment> open = new ArrayList<>();
    int refusals;
    int closeRefusals;

    @Override
    public RegisteredBuffers.Registration apply(MemorySegment block) {
      if (refusals > 0) {
        refusals--;
        throw new IllegalStateException("no more regions");
      }
      open.add(block);
      return new RegisteredBuffers.Registration(rail -> block.address() + rail, () -> close(block));
    }

    private void close(MemorySegment block) {
      if (closeRefusals > 0) {
        closeRefusals--;
        throw new IllegalStateException("busy");
      }
      assertTrue(block.scope().isAlive(), "freed before it was deregistered");
      assertTrue(open.remove(block), "closed twice");
    }
  }

  private final Registrar registrar = new Registrar();

  @Property(tries = 200)
  void buffersAreAlignedApartWithinBlocksAndLimited(
      @ForAll @IntRange(min = 1, max = 9000) int entryBytes,
      @ForAll @IntRange(min = 0, max = 12) int alignmentBits,
      @ForAll @IntRange(min = 1, max = 40) int growth,
      @ForAll @IntRange(min = 0, max = 100) int more) {
    BufferShape shape =
        new BufferShape(entryBytes, 1 << alignmentBits, growth, growth + more, 4096);
    RegisteredBuffers list = new RegisteredBuffers("test", shape, registrar);
    TreeMap<Long, RegisteredBuffers.Buffer> taken = new TreeMap<>();
    for (RegisteredBuffers.Buffer buffer = list.take(); buffer != null; buffer = list.take()) {
      MemorySegment memory = buffer.memory();
      long address = memory.address();
      assertEquals(entryBytes, buffer.memory().byteSize());
      assertEquals(0, address % shape.alignmentBytes());
      MemorySegment block =
          registrar.open.stream()
              .filter(each -> each.asOverlappingSlice(memory).isPresent())
              .findFirst()
              .orElseThrow();
      assertTrue(address + entryBytes <= block.address() + block.byteSize());
      assertEquals(block.address() + 3, buffer.descriptor(3));
      var below = taken.floorEntry(address);
      var above = taken.ceilingEntry(address);
      assertTrue(below == null || below.getKey() + entryBytes <= address, "overlaps");
      assertTrue(above == null || address + entryBytes <= above.getKey(), "overlaps");
      taken.put(address, buffer);
      buffer.memory().fill((byte) 1);
    }
    assertEquals(shape.most(), taken.size());
    for (MemorySegment block : registrar.open) {
      assertEquals(0, block.address() % 4096);
      assertEquals(0, block.byteSize() % 4096);
    }
    list.abandon();
    list.abandon();
    assertEquals(List.of(), registrar.open);
    assertThrows(IllegalStateException.class, list::take);
  }

  private RegisteredBuffers small() {
    return new RegisteredBuffers("rx", new BufferShape(2048, 64, 2, 5, 4096), registrar);
  }

  @Example
  void aRefusedRegistrationLeavesTheListAsItWas() {
    RegisteredBuffers list = small();
    list.take();
    list.take();
    registrar.refusals = 1;
    assertThrows(IllegalStateException.class, list::take);
    assertEquals(1, registrar.open.size());
    assertNotNull(list.take());
    list.abandon();
    assertEquals(List.of(), registrar.open);
  }

  @Example
  void aRegistrationThatCannotBeClosedKeepsItsMemoryAndIsTriedAgain() {
    RegisteredBuffers list = small();
    list.reserve(100);
    assertEquals(3, registrar.open.size());
    registrar.closeRefusals = 2;
    IllegalStateException refusal = assertThrows(IllegalStateException.class, list::abandon);
    assertEquals(1, refusal.getSuppressed().length);
    assertEquals(2, registrar.open.size());
    assertTrue(registrar.open.stream().allMatch(block -> block.scope().isAlive()));
    assertDoesNotThrow(list::abandon);
    assertEquals(List.of(), registrar.open);
  }

  @Example
  void theLimitHoldsThoughTheLastBlockHasRoom() {
    RegisteredBuffers list = small();
    for (int i = 0; i < 5; i++) {
      assertNotNull(list.take());
    }
    assertNull(list.take());
    list.abandon();
    assertEquals(List.of(), registrar.open);
  }

  @Example
  void takingWhatWasReservedAllocatesNothing() {
    RegisteredBuffers list = small();
    list.reserve(5);
    long[] sum = new long[1];
    Allocation.assertNone(
        () -> {
          RegisteredBuffers.Buffer buffer = list.take();
          sum[0] += buffer == null ? 0 : buffer.memory().address();
        });
    assertTrue(sum[0] != 0);
    list.abandon();
  }

  @Example
  void shapesThatCannotBeAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new BufferShape(0, 8, 1, 1, 4096));
    assertThrows(IllegalArgumentException.class, () -> new BufferShape(8, 3, 1, 1, 4096));
    assertThrows(IllegalArgumentException.class, () -> new BufferShape(8, 8192, 1, 1, 4096));
    assertThrows(IllegalArgumentException.class, () -> new BufferShape(8, 8, 2, 1, 4096));
    assertThrows(IllegalArgumentException.class, () -> new BufferShape(8, 8, 1, 1, 1000));
    assertThrows(
        IllegalArgumentException.class, () -> new BufferShape(1 << 20, 8, 1, 1 << 12, 4096));
  }
}
