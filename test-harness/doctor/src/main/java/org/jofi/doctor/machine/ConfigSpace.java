package org.jofi.doctor.machine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The PCI configuration space of a function. Every user may read its first 64 bytes, and only root
 * may read the rest. The extended capabilities of PCI Express begin at byte 256.
 */
public final class ConfigSpace {
  /** The part that every user may read. */
  private static final int PUBLIC_BYTES = 64;

  private static final int EXTENDED_START = 0x100;
  private static final int ACS = 0x000d;

  /** How much of it could be read. */
  public enum Extent {
    /** Nothing. */
    UNREADABLE,
    /** All ones: the function does not answer. */
    SILENT,
    /** Only the part that every user may read. */
    PUBLIC,
    /**
     * Everything except an extended part, which the function does not have or which cannot be read.
     */
    CONVENTIONAL,
    /** All of it. */
    EXTENDED,
    /** The list of extended capabilities is endless, or points outside of it. */
    MALFORMED
  }

  private final Reading reading;
  private final ByteBuffer bytes;
  private Extent extent;
  private Optional<AccessControl> accessControl = Optional.empty();

  ConfigSpace(Reading reading) {
    this.reading = reading;
    this.bytes = ByteBuffer.wrap(reading.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    this.extent = extentOf(bytes);
    if (extent == Extent.EXTENDED) {
      walk();
    }
  }

  /** How reading its file went. */
  public Reading reading() {
    return reading;
  }

  public Extent extent() {
    return extent;
  }

  /** Access Control Services; empty if the function has none, or they cannot be read. */
  public Optional<AccessControl> accessControl() {
    return accessControl;
  }

  private static Extent extentOf(ByteBuffer bytes) {
    int size = bytes.limit();
    if (size < 4) {
      return Extent.UNREADABLE;
    }
    if (bytes.getInt(0) == -1) {
      return Extent.SILENT;
    }
    if (size <= PUBLIC_BYTES) {
      return Extent.PUBLIC;
    }
    return size < EXTENDED_START + 4 ? Extent.CONVENTIONAL : Extent.EXTENDED;
  }

  private void walk() {
    int offset = EXTENDED_START;
    for (int hops = 0; hops <= bytes.limit() / 4; hops++) {
      int header = bytes.getInt(offset);
      if (header == -1 || (offset == EXTENDED_START && header == 0)) {
        return;
      }
      if ((header & 0xffff) == ACS && offset + 8 <= bytes.limit()) {
        accessControl =
            Optional.of(
                new AccessControl(
                    Short.toUnsignedInt(bytes.getShort(offset + 4)),
                    Short.toUnsignedInt(bytes.getShort(offset + 6))));
        return;
      }
      int next = header >>> 20;
      if (next == 0) {
        return;
      }
      if (next < EXTENDED_START || next % 4 != 0 || next + 4 > bytes.limit()) {
        break;
      }
      offset = next;
    }
    extent = Extent.MALFORMED;
  }
}
