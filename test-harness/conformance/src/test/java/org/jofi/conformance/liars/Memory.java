package org.jofi.conformance.liars;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Memory by address, as a provider has it. */
final class Memory {
  private Memory() {}

  /** Turns a byte over. */
  @SuppressWarnings("restricted")
  static void spoil(long address) {
    MemorySegment one = MemorySegment.ofAddress(address).reinterpret(1);
    one.set(ValueLayout.JAVA_BYTE, 0, (byte) ~one.get(ValueLayout.JAVA_BYTE, 0));
  }
}
