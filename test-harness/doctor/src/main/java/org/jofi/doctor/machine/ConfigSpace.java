package org.jofi.doctor.machine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The PCI configuration space of a function. The kernel shows its first 64 bytes to everybody and
 * the rest to root alone; what lies from 256 on are PCI Express's extended capabilities.
 */
public final class ConfigSpace {
  /** As much as anybody may read. */
  private static final int PUBLIC_BYTES = 64;

  private static final int EXTENDED_START = 0x100;
  private static final int ACS = 0x000d;

  /** How far it can be seen. */
  public enum Extent {
    /** Not at all. */
    UNREADABLE,
    /** All ones: the function does not answer. */
    SILENT,
    /** Only what everybody may read. */
    PUBLIC,
    /** All of a function that has no extended part, or whose extended part is not reachable. */
    CONVENTIONAL,
    /** All of it. */
    EXTENDED,
    /** The list of extended capabilities does not end, or leads out of it. */
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

  /** How it was read. */
  public Reading reading() {
    return reading;
  }

  public Extent extent() {
    return extent;
  }

  /** Access Control Services; empty if the function has none, or they cannot be seen. */
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
