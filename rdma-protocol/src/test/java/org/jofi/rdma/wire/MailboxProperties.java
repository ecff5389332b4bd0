package org.jofi.rdma.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

/** Mailboxes between two sides, where a copy stands for the network. */
class MailboxProperties {
  private static final long MAX = 1L << 30;
  private static final int GENERATION = 0xabcd;

  private final Arena arena = Arena.ofAuto();

  private MemorySegment mailbox(MailboxLayout layout) {
    return arena.allocate(layout.mailboxBytes(), 64);
  }

  /** What a receive says; its tag stands for what was handled, too. */
  private record Said(long address, long length, int tag, List<Long> keys) {
    static Said of(Random random, int rails) {
      return new Said(
          random.nextLong() >>> 8,
          random.nextLong(MAX + 1),
          random.nextInt(),
          random.longs(rails).boxed().toList());
    }

    void put(MailboxWriter writer, long index) {
      writer.put(index, address, length, tag);
      seal(writer, index);
    }

    void seal(MailboxWriter writer, long index) {
      for (int rail = 0; rail < keys.size(); rail++) {
        writer.putKey(index, rail, keys.get(rail));
      }
      writer.seal(index, tag);
    }

    void verify(MailboxReader reader) {
      assertEquals(address, reader.remoteAddress());
      assertEquals(length, reader.lengthBytes());
      assertEquals(tag, reader.tag());
      assertEquals(tag & 0xff, reader.handled());
      for (int rail = 0; rail < keys.size(); rail++) {
        assertEquals(keys.get(rail), reader.key(rail));
      }
    }
  }

  @Property(tries = 300)
  void linesInAnyOrderAreAbsentUntilTheLastWord(
      @ForAll Random random,
      @ForAll @IntRange(min = 1, max = 8) int rails,
      @ForAll @LongRange(min = 1, max = 1L << 40) long index,
      @ForAll boolean reused) {
    MailboxLayout layout = new MailboxLayout(rails);
    MemorySegment source = mailbox(layout);
    MemorySegment target = mailbox(layout);
    MailboxWriter writer = new MailboxWriter(source, layout, GENERATION);
    MailboxReader reader = new MailboxReader(target, layout, GENERATION, MAX);
    // What an earlier receive, or another connection, left in the entry.
    long earlier = index - MailboxLayout.ENTRIES;
    if (reused || earlier < 1) {
      MailboxWriter other = new MailboxWriter(source, layout, GENERATION - 1);
      Said.of(random, rails).put(other, index);
    } else {
      Said.of(random, rails).put(writer, earlier);
    }
    target.copyFrom(source);
    assertEquals(reused || earlier < 1 ? 0 : 1, reader.poll(Math.max(1, earlier)));
    Said said = Said.of(random, rails);
    said.put(writer, index);
    List<Integer> words = new ArrayList<>();
    IntStream.range(0, layout.entryBytes() / Long.BYTES).forEach(words::add);
    Collections.shuffle(words, random);
    int at = layout.entryOffset(index);
    for (int word : words) {
      if (differs(source, target, at, layout.entryBytes())) {
        assertEquals(MailboxReader.ABSENT, reader.poll(index));
        assertFalse(reader.isLoaded(index));
      }
      long offset = at + (long) word * Long.BYTES;
      MemorySegment.copy(source, offset, target, offset, Long.BYTES);
    }
    assertEquals(1, reader.poll(index), () -> "" + reader.fault());
    // What was read stays, whatever is written now.
    target.asSlice(at, layout.entryBytes()).fill((byte) 7);
    assertTrue(reader.isLoaded(index));
    said.verify(reader);
    assertEquals(MailboxReader.ABSENT, reader.poll(index));
    assertEquals(MailboxReader.ABSENT, reader.poll(index + MailboxLayout.ENTRIES));
  }

  private static boolean differs(MemorySegment a, MemorySegment b, int at, int length) {
    return MemorySegment.mismatch(a, at, at + length, b, at, at + length) >= 0;
  }

  @Property(tries = 200)
  void entriesOfAnotherReceiveOrGenerationAreAbsent(
      @ForAll Random random,
      @ForAll @LongRange(min = 1, max = 1L << 40) long index,
      @ForAll @IntRange(min = 1, max = (1 << 15) - 1) int uses,
      @ForAll @IntRange(min = 1, max = ProtocolLimits.MAX_GENERATION) int generation) {
    MailboxLayout layout = new MailboxLayout(2);
    MemorySegment memory = mailbox(layout);
    Said.of(random, 2).put(new MailboxWriter(memory, layout, GENERATION), index);
    MailboxReader reader = new MailboxReader(memory, layout, GENERATION, MAX);
    assertEquals(1, reader.poll(index));
    assertEquals(MailboxReader.ABSENT, reader.poll(index + (long) uses * MailboxLayout.ENTRIES));
    assertEquals(
        generation == GENERATION ? 1 : MailboxReader.ABSENT,
        new MailboxReader(memory, layout, generation, MAX).poll(index));
  }

  /** Words of a connection that was land anywhere in the mailbox of the one that is. */
  @Property(tries = 300)
  void whatLandsLateIsNoEntryAndHidesOnlyWhatItLandedOn(
      @ForAll Random random,
      @ForAll @IntRange(min = 1, max = 8) int rails,
      @ForAll @IntRange(min = 1, max = ProtocolLimits.MAX_GENERATION) int former) {
    MailboxLayout layout = new MailboxLayout(rails);
    MemorySegment memory = mailbox(layout);
    MemorySegment late = mailbox(layout);
    int now = former % ProtocolLimits.MAX_GENERATION + 1;
    MailboxWriter ghost = new MailboxWriter(late, layout, former);
    MailboxWriter writer = new MailboxWriter(memory, layout, now);
    MailboxReader reader = new MailboxReader(memory, layout, now, MAX);
    List<Said> said = new ArrayList<>();
    for (long index = 1; index <= 20; index++) {
      Said.of(random, rails).put(ghost, index);
      said.add(Said.of(random, rails));
    }
    for (long index = 1; index <= 10; index++) {
      said.get((int) index - 1).put(writer, index);
    }
    MemorySegment before = arena.allocate(layout.mailboxBytes(), 64);
    before.copyFrom(memory);
    for (int i = 0; i < 40; i++) {
      long at = random.nextLong(20L * layout.entryBytes() / Long.BYTES) * Long.BYTES;
      long length = Math.min(random.nextLong(1, 17) * Long.BYTES, layout.mailboxBytes() - at);
      MemorySegment.copy(late, at, memory, at, length);
    }
    for (long index = 1; index <= 20; index++) {
      int at = layout.entryOffset(index);
      boolean hit = differs(before, memory, at, layout.entryBytes());
      assertEquals(index <= 10 && !hit ? 1 : MailboxReader.ABSENT, reader.poll(index));
    }
    for (long index = 1; index <= 20; index++) {
      said.get((int) index - 1).put(writer, index);
      assertEquals(1, reader.poll(index));
      said.get((int) index - 1).verify(reader);
    }
  }

  /**
   * Whatever was handled, a stamp fits its receive; and what was handled is covered by the check.
   */
  @Example
  void whatWasHandledComesBackAndIsChecked() {
    for (int rails : new int[] {2, 5}) {
      MailboxLayout layout = new MailboxLayout(rails);
      MemorySegment memory = mailbox(layout);
      MailboxWriter writer = new MailboxWriter(memory, layout, GENERATION);
      MailboxReader reader = new MailboxReader(memory, layout, GENERATION, MAX);
      long index = (1L << 40) - 1;
      for (int handled = -256; handled < 512; handled++) {
        writer.put(index, 64, 64, 7);
        writer.seal(index, handled);
        assertEquals(1, reader.poll(index));
        assertEquals(handled & 0xff, reader.handled());
        int line = Math.floorMod(handled, layout.linesPerEntry());
        int at = layout.entryOffset(index) + line * MailboxLayout.LINE_BYTES + MailboxLayout.STAMP;
        long turned = 1L << (23 + (handled >> 1 & 7));
        memory.set(WireLayouts.LONG, at, memory.get(WireLayouts.LONG, at) ^ turned);
        assertEquals(MailboxReader.ABSENT, reader.poll(index));
        assertFalse(reader.isLoaded(index));
      }
    }
  }

  @Example
  void zeroedMemoryHoldsNothing() {
    MailboxLayout layout = new MailboxLayout(5);
    MailboxReader reader = new MailboxReader(mailbox(layout), layout, 1, MAX);
    for (long index = 1; index < 1L << 33; index += (1 << 20) - 1) {
      assertEquals(MailboxReader.ABSENT, reader.poll(index));
    }
  }

  @Property
  void stagedReceivesTellTheirBlocks(
      @ForAll Random random,
      @ForAll @LongRange(min = 1, max = 1L << 40) long index,
      @ForAll @IntRange(min = 1, max = 8) int blocks,
      @ForAll @IntRange(min = 6, max = 30) int shift) {
    MailboxLayout layout = new MailboxLayout(2);
    MemorySegment memory = mailbox(layout);
    MailboxWriter writer = new MailboxWriter(memory, layout, GENERATION);
    MailboxReader reader = new MailboxReader(memory, layout, GENERATION, MAX);
    long length = random.nextLong(MAX + 1);
    Said said = Said.of(random, 2);
    writer.put(index, said.address, MailboxLayout.staged(blocks, length, shift), said.tag);
    said.seal(writer, index);
    assertEquals(1, reader.poll(index));
    assertTrue(reader.isStaged());
    assertEquals(shift, reader.chunkShift());
    assertEquals(blocks, reader.blocks());
    new Said(said.address, length, said.tag, said.keys).verify(reader);
  }

  @Example
  void hostileMailboxesAreAbsentOrMalformedOrWithinBounds() {
    Random random = new Random(13);
    int malformed = 0;
    int sound = 0;
    for (int rails : new int[] {1, 3, 4, 5, 8}) {
      MailboxLayout layout = new MailboxLayout(rails);
      MemorySegment memory = mailbox(layout);
      MailboxWriter writer = new MailboxWriter(memory, layout, GENERATION);
      MailboxReader reader = new MailboxReader(memory, layout, GENERATION, MAX);
      for (int i = 0; i < 30_000; i++) {
        long index = random.nextLong(1, 1L << 40);
        Said said = Said.of(random, rails);
        if (random.nextInt(4) == 0) {
          long staged =
              MailboxLayout.staged(random.nextInt(1, 9), said.length, random.nextInt(6, 31));
          writer.put(index, said.address, staged, said.tag);
          said.seal(writer, index);
        } else {
          said.put(writer, index);
        }
        int at = layout.entryOffset(index);
        for (int turns = random.nextInt(1, 4); turns > 0; turns--) {
          int bit = at + random.nextInt(layout.entryBytes());
          byte old = memory.get(ValueLayout.JAVA_BYTE, bit);
          memory.set(ValueLayout.JAVA_BYTE, bit, (byte) (old ^ 1 << random.nextInt(8)));
        }
        if (random.nextBoolean()) {
          // A peer that means harm gets the check right.
          writer.seal(index, 0);
        }
        int polled = reader.poll(index);
        if (polled == MailboxReader.MALFORMED) {
          malformed++;
          assertTrue(reader.fault() != WireFault.NONE);
        } else if (polled > 0) {
          sound++;
          long length = reader.lengthBytes();
          assertTrue(length >= 0 && length <= MAX, "" + length);
          assertTrue(!reader.isStaged() || reader.blocks() <= ProtocolLimits.MAX_GROUP);
          assertTrue(!reader.isStaged() || (reader.chunkShift() >= 6 && reader.chunkShift() <= 30));
        }
      }
    }
    assertTrue(malformed > 10_000 && sound > 10_000, malformed + " and " + sound);
  }

  @Example
  void eachKindOfLieIsNamed() {
    MailboxLayout layout = new MailboxLayout(2);
    MemorySegment memory = mailbox(layout);
    MailboxWriter writer = new MailboxWriter(memory, layout, GENERATION);
    MailboxReader reader = new MailboxReader(memory, layout, GENERATION, MAX);
    lie(writer, reader, 0, MAX + 1, WireFault.RANGE);
    lie(writer, reader, 0, -1, WireFault.RANGE);
    lie(writer, reader, -5, 6, WireFault.RANGE);
    // Staged: blocks of 2^31 bytes, of 2^5, something where nothing is, and too long a receive.
    lie(writer, reader, 0, 1L << 62 | 31L << 57 | 64, WireFault.RANGE);
    lie(writer, reader, 0, 1L << 62 | 5L << 57 | 64, WireFault.RANGE);
    lie(writer, reader, 0, 1L << 62 | 10L << 57 | 1L << 45 | 64, WireFault.RANGE);
    lie(writer, reader, 0, 1L << 62 | 10L << 57 | 1L << 56 | 64, WireFault.RANGE);
    lie(writer, reader, 0, MailboxLayout.staged(8, MAX + 1, 10), WireFault.RANGE);
    lie(writer, reader, -5, MailboxLayout.staged(1, 64, 6), WireFault.RANGE);
    writer.put(1, 0, 0, 0);
    writer.putKey(1, 2, 77);
    writer.seal(1, 0);
    assertEquals(MailboxReader.MALFORMED, reader.poll(1));
    assertEquals(WireFault.RESERVED, reader.fault());
    assertFalse(reader.isLoaded(1));
  }

  private static void lie(
      MailboxWriter writer, MailboxReader reader, long address, long length, WireFault fault) {
    writer.put(1, address, length, 0);
    writer.seal(1, 0);
    assertEquals(MailboxReader.MALFORMED, reader.poll(1));
    assertEquals(fault, reader.fault());
  }

  /** The bytes that docs/PROTOCOL.md gives. */
  @Example
  void theFieldsAreWhereTheyAreDocumented() {
    MailboxLayout layout = new MailboxLayout(5);
    MemorySegment memory = mailbox(layout);
    MailboxWriter writer = new MailboxWriter(memory, layout, GENERATION);
    long index = 3 + 256 + (1L << 23);
    writer.put(index, 0x1111, 0x2222, 0x3333);
    for (int rail = 0; rail < 5; rail++) {
      writer.putKey(index, rail, 0x100 + rail);
    }
    writer.seal(index, 0x1a5);
    MemorySegment entry = memory.asSlice(3 * 128, 128);
    assertEquals(0x1111, entry.get(WireLayouts.LONG, 0));
    assertEquals(0x2222, entry.get(WireLayouts.LONG, 8));
    assertEquals(0x3333, entry.get(WireLayouts.INT, 16));
    for (int rail = 0; rail < 4; rail++) {
      assertEquals(0x100 + rail, entry.get(WireLayouts.LONG, 24 + 8 * rail));
    }
    assertEquals(0x104, entry.get(WireLayouts.LONG, 64));
    long place = (1L << 48) - 1;
    long first = 0xabcdL << 32 | 0xa5L << 23 | 3 + 256;
    assertEquals(first, entry.get(WireLayouts.LONG, 56) & place);
    assertEquals(first | 1L << 31, entry.get(WireLayouts.LONG, 120) & place);
    assertEquals(1L << 62 | 20L << 57 | 3L << 42 | 77, MailboxLayout.staged(4, 77, 20));
  }

  @Example
  void layoutsAndBadArguments() {
    assertEquals(16 * 1024, new MailboxLayout(4).mailboxBytes());
    assertEquals(32 * 1024, new MailboxLayout(5).mailboxBytes());
    assertEquals(8, MailboxLayout.beforeEnd(256, 8));
    assertEquals(1, MailboxLayout.beforeEnd(255, 8));
    assertEquals(8, MailboxLayout.beforeEnd(248, 8));
    assertEquals(7, MailboxLayout.beforeEnd(249, 8));
    assertThrows(IllegalArgumentException.class, () -> new MailboxLayout(0));
    assertThrows(IllegalArgumentException.class, () -> new MailboxLayout(9));
    MailboxLayout layout = new MailboxLayout(1);
    MemorySegment memory = mailbox(layout);
    assertThrows(
        IllegalArgumentException.class,
        () -> new MailboxReader(memory.asSlice(0, 64), layout, 1, MAX));
    assertThrows(
        IllegalArgumentException.class,
        () -> new MailboxWriter(arena.allocate(1 << 17, 64).asSlice(8), layout, 1));
    assertThrows(IllegalArgumentException.class, () -> new MailboxWriter(memory, layout, 65_536));
  }
}
