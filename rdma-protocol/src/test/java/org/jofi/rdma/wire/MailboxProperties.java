package org.jofi.rdma.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

  private static void put(MailboxEntry entry, Random random, long number, int receives, int rails) {
    for (int receive = 0; receive < receives; receive++) {
      entry.put(
          number, receive, random.nextLong() >>> 8, random.nextLong(MAX + 1), random.nextInt());
      for (int rail = 0; rail < rails; rail++) {
        entry.putKey(number, receive, rail, random.nextLong());
      }
    }
    entry.seal(number, receives);
  }

  @Property(tries = 300)
  void linesInAnyOrderAreAbsentUntilTheLastWord(
      @ForAll Random random,
      @ForAll @IntRange(min = 1, max = 8) int rails,
      @ForAll @IntRange(min = 1, max = 8) int receives,
      @ForAll @LongRange(min = 1, max = 1L << 40) long number) {
    MailboxLayout layout = new MailboxLayout(rails);
    MemorySegment source = mailbox(layout);
    MemorySegment target = mailbox(layout);
    MailboxEntry receiver = new MailboxEntry(source, layout, GENERATION, MAX);
    MailboxEntry sender = new MailboxEntry(target, layout, GENERATION, MAX);
    // What an earlier message left in the slot.
    if (number > MailboxLayout.SLOTS) {
      long earlier = number - MailboxLayout.SLOTS;
      put(receiver, random, earlier, 8, rails);
      target.copyFrom(source);
      assertEquals(8, sender.poll(earlier));
    }
    put(receiver, random, number, receives, rails);
    List<Integer> words = new ArrayList<>();
    IntStream.range(0, layout.writeBytes(receives) / Long.BYTES).forEach(words::add);
    Collections.shuffle(words, random);
    int at = layout.slotOffset(number);
    for (int word : words) {
      if (differs(source, target, at, layout.writeBytes(receives))) {
        assertEquals(MailboxEntry.ABSENT, sender.poll(number));
      }
      long offset = at + (long) word * Long.BYTES;
      MemorySegment.copy(source, offset, target, offset, Long.BYTES);
    }
    assertEquals(receives, sender.poll(number), () -> "" + sender.fault());
    for (int receive = 0; receive < receives; receive++) {
      assertEquals(receiver.remoteAddress(number, receive), sender.remoteAddress(number, receive));
      assertEquals(receiver.lengthWord(number, receive), sender.lengthWord(number, receive));
      assertEquals(receiver.tag(number, receive), sender.tag(number, receive));
      for (int rail = 0; rail < rails; rail++) {
        assertEquals(receiver.key(number, receive, rail), sender.key(number, receive, rail));
      }
    }
    assertEquals(MailboxEntry.ABSENT, sender.poll(number + MailboxLayout.SLOTS));
  }

  private static boolean differs(MemorySegment a, MemorySegment b, int at, int length) {
    return MemorySegment.mismatch(a, at, at + length, b, at, at + length) >= 0;
  }

  @Property(tries = 200)
  void slotsOfAnotherMessageOrGenerationAreAbsent(
      @ForAll Random random,
      @ForAll @LongRange(min = 1, max = 1L << 40) long number,
      @ForAll @IntRange(min = 1, max = 65_534) int uses,
      @ForAll @IntRange(min = 1, max = ProtocolLimits.MAX_GENERATION) int generation) {
    MailboxLayout layout = new MailboxLayout(2);
    MemorySegment memory = mailbox(layout);
    MailboxEntry entry = new MailboxEntry(memory, layout, GENERATION, MAX);
    put(entry, random, number, 1, 2);
    assertEquals(1, entry.poll(number));
    assertEquals(MailboxEntry.ABSENT, entry.poll(number + (long) uses * MailboxLayout.SLOTS));
    assertEquals(
        generation == GENERATION ? 1 : MailboxEntry.ABSENT,
        new MailboxEntry(memory, layout, generation, MAX).poll(number));
  }

  @Example
  void zeroedMemoryHoldsNothing() {
    MailboxLayout layout = new MailboxLayout(5);
    MailboxEntry entry = new MailboxEntry(mailbox(layout), layout, 1, MAX);
    for (long number = 1; number < 2 * (1 << 23); number += 8191) {
      assertEquals(MailboxEntry.ABSENT, entry.poll(number));
    }
  }

  @Example
  void hostileMailboxesAreAbsentOrMalformedOrWithinBounds() {
    Random random = new Random(13);
    int malformed = 0;
    int sound = 0;
    for (int rails : new int[] {1, 3, 4, 5, 8}) {
      MailboxLayout layout = new MailboxLayout(rails);
      MemorySegment memory = mailbox(layout);
      MailboxEntry entry = new MailboxEntry(memory, layout, GENERATION, MAX);
      for (int i = 0; i < 30_000; i++) {
        long number = random.nextLong(1, 1L << 40);
        int receives = random.nextInt(1, 9);
        put(entry, random, number, receives, rails);
        int at = layout.slotOffset(number);
        for (int turns = random.nextInt(1, 4); turns > 0; turns--) {
          int bit = at + random.nextInt(layout.writeBytes(receives));
          byte old = memory.get(ValueLayout.JAVA_BYTE, bit);
          memory.set(ValueLayout.JAVA_BYTE, bit, (byte) (old ^ 1 << random.nextInt(8)));
        }
        if (random.nextBoolean()) {
          // A peer that means harm gets the check right.
          entry.seal(number, receives);
        }
        int polled = entry.poll(number);
        if (polled == MailboxEntry.MALFORMED) {
          malformed++;
          assertTrue(entry.fault() != WireFault.NONE);
        } else if (polled > 0) {
          sound++;
          for (int receive = 0; receive < polled; receive++) {
            long length = MailboxEntry.lengthBytes(entry.lengthWord(number, receive));
            assertTrue(length >= 0 && length <= MAX, "" + length);
          }
        }
      }
    }
    assertTrue(malformed > 10_000 && sound > 10_000, malformed + " and " + sound);
  }

  @Example
  void eachKindOfLieIsNamed() {
    MailboxLayout layout = new MailboxLayout(2);
    MemorySegment memory = mailbox(layout);
    MailboxEntry entry = new MailboxEntry(memory, layout, GENERATION, MAX);
    lie(entry, 0, MAX + 1, WireFault.RANGE);
    lie(entry, 0, -1, WireFault.RANGE);
    lie(entry, -5, 6, WireFault.RANGE);
    entry.put(1, 0, 0, 0, 0);
    entry.putKey(1, 0, 2, 77);
    entry.seal(1, 1);
    assertEquals(MailboxEntry.MALFORMED, entry.poll(1));
    assertEquals(WireFault.RESERVED, entry.fault());
    // Two receives, the second of which says that it is of a group of three.
    for (int receive = 0; receive < 3; receive++) {
      entry.put(1, receive, 0, 8, 0);
    }
    entry.seal(1, 2);
    MemorySegment first = memory.asSlice(layout.slotOffset(1), 64);
    byte[] ofTwo = first.toArray(ValueLayout.JAVA_BYTE);
    entry.seal(1, 3);
    first.copyFrom(MemorySegment.ofArray(ofTwo));
    assertEquals(MailboxEntry.MALFORMED, entry.poll(1));
    assertEquals(WireFault.GROUP, entry.fault());
  }

  private static void lie(MailboxEntry entry, long address, long length, WireFault fault) {
    entry.put(1, 0, address, length, 0);
    entry.seal(1, 1);
    assertEquals(MailboxEntry.MALFORMED, entry.poll(1));
    assertEquals(fault, entry.fault());
  }

  @Example
  void layoutsAndBadArguments() {
    assertEquals(64 * 1024, new MailboxLayout(4).mailboxBytes());
    assertEquals(128 * 1024, new MailboxLayout(5).mailboxBytes());
    assertThrows(IllegalArgumentException.class, () -> new MailboxLayout(0));
    assertThrows(IllegalArgumentException.class, () -> new MailboxLayout(9));
    MailboxLayout layout = new MailboxLayout(1);
    MemorySegment memory = mailbox(layout);
    assertThrows(
        IllegalArgumentException.class,
        () -> new MailboxEntry(memory.asSlice(0, 64), layout, 1, MAX));
    assertThrows(
        IllegalArgumentException.class,
        () -> new MailboxEntry(arena.allocate(1 << 17, 64).asSlice(8), layout, 1, MAX));
    assertThrows(
        IllegalArgumentException.class, () -> new MailboxEntry(memory, layout, 65_536, MAX));
  }
}
