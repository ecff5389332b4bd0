package org.jofi.rdma.memory;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jofi.allocation.Allocation;

class BlockFreelistProperties {

  /** Registers blocks, and looks that each is there when it is closed. */
  private static final class Registrar
      implements Function<MemorySegment, BlockFreelist.Registration> {
    final List<MemorySegment> open = new ArrayList<>();
    int refusals;
    int closeRefusals;

    @Override
    public BlockFreelist.Registration apply(MemorySegment block) {
      if (refusals > 0) {
        refusals--;
        throw new IllegalStateException("no more regions");
      }
      open.add(block);
      return new BlockFreelist.Registration(rail -> block.address() + rail, () -> close(block));
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
  void entriesAreAlignedApartWithinBlocksAndLimited(
      @ForAll Random random,
      @ForAll @IntRange(min = 1, max = 9000) int entryBytes,
      @ForAll @IntRange(min = 0, max = 12) int alignmentBits,
      @ForAll @IntRange(min = 1, max = 40) int growth,
      @ForAll @IntRange(min = 0, max = 100) int more) {
    FreelistShape shape =
        new FreelistShape(entryBytes, 1 << alignmentBits, growth, growth + more, 4096);
    BlockFreelist list = new BlockFreelist("test", shape, registrar);
    TreeMap<Long, Integer> out = new TreeMap<>();
    for (int step = 0; step < 400; step++) {
      if (random.nextInt(3) > 0) {
        int entry = list.take();
        if (entry == BlockFreelist.EXHAUSTED) {
          assertEquals(shape.maxEntries(), out.size());
          continue;
        }
        long address = list.address(entry);
        assertEquals(0, address % shape.alignmentBytes());
        assertEquals(address, list.memory(entry).address() + list.offset(entry));
        assertTrue(list.offset(entry) + entryBytes <= list.memory(entry).byteSize());
        assertEquals(list.memory(entry).address() + 3, list.descriptor(entry, 3));
        var below = out.floorEntry(address);
        var above = out.ceilingEntry(address);
        assertTrue(below == null || below.getKey() + entryBytes <= address, "overlaps");
        assertTrue(above == null || address + entryBytes <= above.getKey(), "overlaps");
        out.put(address, entry);
        list.memory(entry).asSlice(list.offset(entry), entryBytes).fill((byte) entry);
      } else if (!out.isEmpty()) {
        var any = out.firstEntry();
        assertEquals(
            any.getValue().byteValue(),
            list.memory(any.getValue()).get(ValueLayout.JAVA_BYTE, list.offset(any.getValue())));
        list.give(any.getValue());
        out.remove(any.getKey());
      }
    }
    for (MemorySegment block : registrar.open) {
      assertEquals(0, block.address() % 4096);
      assertEquals(0, block.byteSize() % 4096);
    }
    out.values().stream().limit(random.nextInt(3)).toList().forEach(list::give);
    list.abandon();
    list.abandon();
    assertEquals(List.of(), registrar.open);
    assertThrows(IllegalStateException.class, list::take);
  }

  private BlockFreelist small() {
    return new BlockFreelist("rx", new FreelistShape(2048, 64, 2, 5, 4096), registrar);
  }

  @Example
  void entriesThatAreNotOutAreRefused() {
    BlockFreelist list = small();
    int entry = list.take();
    list.give(entry);
    assertThrows(IllegalStateException.class, () -> list.give(entry));
    assertThrows(IllegalStateException.class, () -> list.address(entry));
    assertThrows(IllegalStateException.class, () -> list.descriptor(4, 0));
    assertThrows(IllegalStateException.class, () -> list.give(-1));
    assertThrows(IllegalStateException.class, () -> list.give(5));
    list.abandon();
  }

  @Example
  void aRefusedRegistrationLeavesTheListAsItWas() {
    BlockFreelist list = small();
    int first = list.take();
    list.take();
    registrar.refusals = 1;
    assertThrows(IllegalStateException.class, list::take);
    assertEquals(1, registrar.open.size());
    int third = list.take();
    assertTrue(third != first);
    list.abandon();
    assertEquals(List.of(), registrar.open);
  }

  @Example
  void aRegistrationThatCannotBeClosedKeepsItsMemoryAndIsTriedAgain() {
    BlockFreelist list = small();
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
    BlockFreelist list = small();
    for (int i = 0; i < 5; i++) {
      assertTrue(list.take() >= 0);
    }
    assertEquals(BlockFreelist.EXHAUSTED, list.take());
    list.abandon();
    assertEquals(List.of(), registrar.open);
  }

  @Example
  void takingAndGivingAllocatesNothing() {
    BlockFreelist list = small();
    list.reserve(1);
    long[] sum = new long[1];
    Allocation.assertNone(
        () -> {
          for (int i = 0; i < 10_000; i++) {
            int entry = list.take();
            sum[0] += list.address(entry) + list.descriptor(entry, 1) + list.offset(entry);
            list.give(entry);
          }
        });
    assertTrue(sum[0] != 0);
    list.abandon();
  }

  @Example
  void shapesThatCannotBeAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new FreelistShape(0, 8, 1, 1, 4096));
    assertThrows(IllegalArgumentException.class, () -> new FreelistShape(8, 3, 1, 1, 4096));
    assertThrows(IllegalArgumentException.class, () -> new FreelistShape(8, 8192, 1, 1, 4096));
    assertThrows(IllegalArgumentException.class, () -> new FreelistShape(8, 8, 2, 1, 4096));
    assertThrows(IllegalArgumentException.class, () -> new FreelistShape(8, 8, 1, 1, 1000));
    assertThrows(
        IllegalArgumentException.class, () -> new FreelistShape(1 << 20, 8, 1, 1 << 12, 4096));
  }
}
