package org.jofi.collectives;

/** What the elements of an array are, in the byte order of the machine. */
public enum DataType {
  /** Numbers of 32 bits, {@code float}. */
  F32(4),
  /** Numbers of 64 bits, {@code double}. */
  F64(8),
  /** Numbers of 16 bits of IEEE 754. Each reduction of two is calculated in 32 bits and rounded. */
  F16(2),
  /**
   * The upper halves of numbers of 32 bits. Each reduction is calculated in 32 bits and rounded.
   */
  BF16(2),
  /** {@code int} */
  I32(4),
  /** {@code long} */
  I64(8),
  /**
   * Bytes that mean nothing here: they are moved, and only a reduction of one's own reduces them.
   */
  BYTE(1);

  private final int bytes;

  DataType(int bytes) {
    this.bytes = bytes;
  }

  /** {@return the length of an element, in bytes} */
  public int bytes() {
    return bytes;
  }
}
