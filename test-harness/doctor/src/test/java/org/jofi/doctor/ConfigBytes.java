package org.jofi.doctor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Configuration spaces of PCI Express functions, as root reads them. */
final class ConfigBytes {
  private static final int SIZE = 4096;
  private static final int ERRORS = 0x100;
  private static final int ACS = 0x148;

  private ConfigBytes() {}

  /** A bridge port with Advanced Error Reporting and then Access Control Services. */
  static byte[] bridge(int accessControl) {
    byte[] space = header();
    ByteBuffer bytes = ByteBuffer.wrap(space).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(ERRORS, 0x0001 | 1 << 16 | ACS << 20);
    bytes.putInt(ACS, 0x000d | 1 << 16);
    bytes.putShort(ACS + 4, (short) 0x5f);
    bytes.putShort(ACS + 6, (short) accessControl);
    return space;
  }

  /** A function without Access Control Services. */
  static byte[] plain() {
    byte[] space = header();
    ByteBuffer bytes = ByteBuffer.wrap(space).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(ERRORS, 0x0001 | 1 << 16);
    return space;
  }

  /** Two capabilities, each naming the other one as the next. */
  static byte[] endless() {
    byte[] space = header();
    ByteBuffer bytes = ByteBuffer.wrap(space).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(ERRORS, 0x0001 | 1 << 16 | 0x200 << 20);
    bytes.putInt(0x200, 0x0002 | 1 << 16 | ERRORS << 20);
    return space;
  }

  /** What users other than root see. */
  static byte[] asUser() {
    return Arrays.copyOf(bridge(0x1d), 64);
  }

  /** A function that has fallen off the bus. */
  static byte[] silent() {
    byte[] bytes = new byte[SIZE];
    Arrays.fill(bytes, (byte) 0xff);
    return bytes;
  }

  private static byte[] header() {
    byte[] space = new byte[SIZE];
    ByteBuffer.wrap(space)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putShort((short) 0x8086)
        .putShort((short) 0x2030);
    return space;
  }
}
