package org.jofi.cli.verify;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Two sequences of bytes that differ at every position, and whose own bytes tell where they are: of
 * 8 bytes in a row no other 8 are alike, but by a chance of one in 2^64.
 *
 * @param seed which two
 */
public record BytePattern(long seed) {

  /** The byte at that position of what is sent. */
  public byte sent(long position) {
    return (byte) (word(position >>> 3) >>> ((position & 7) * Byte.SIZE));
  }

  /** The byte at that position of what was there before. */
  public byte before(long position) {
    return (byte) ~sent(position);
  }

  /** Fills with what is sent, from position 0. */
  public void fillSent(MemorySegment memory) {
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, sent(i));
    }
  }

  /**
   * Fills with what is there before.
   *
   * @param first the position of its first byte; negative for what lies ahead of the message
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
