package org.jofi.cli.verify;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Two sequences of bytes that differ at every position. Their bytes identify their position: any 8
 * bytes in a row occur nowhere else, except by a chance of one in 2^64.
 *
 * @param seed selects the two sequences
 */
public record BytePattern(long seed) {

  /** The byte at this position of the data that is sent. */
  public byte sent(long position) {
    return (byte) (word(position >>> 3) >>> ((position & 7) * Byte.SIZE));
  }

  /** The byte at this position of the data that was there before. */
  public byte before(long position) {
    return (byte) ~sent(position);
  }

  /** Fills memory with the data that is sent, from position 0. */
  public void fillSent(MemorySegment memory) {
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, sent(i));
    }
  }

  /**
   * Fills memory with the data that is there before.
   *
   * @param first the position of its first byte; negative for bytes before the message
   */
  public void fillBefore(MemorySegment memory, long first) {
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, before(first + i));
    }
  }

  private long word(long index) {
    // Finalizer of SplitMix64 (Steele, Lea, Flood 2014): all bits of a word depend on its index.
    long z = seed + index * 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }
}
