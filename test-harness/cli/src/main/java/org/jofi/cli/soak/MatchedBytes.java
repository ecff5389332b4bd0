package org.jofi.cli.soak;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.cli.verify.BytePattern;

/** Compares memory with what should be in it. */
final class MatchedBytes {
  private MatchedBytes() {}

  /**
   * Checks memory that was filled by {@link BytePattern#fillBefore} from position 0, and of which a
   * part was overwritten with {@link BytePattern#sent}.
   *
   * @param what what it is, for the message
   * @throws WrongDataException at the first byte that is wrong
   */
  static void check(
      MemorySegment memory, long from, long length, BytePattern pattern, String what) {
    for (long i = 0; i < memory.byteSize(); i++) {
      boolean arrived = i >= from && i - from < length;
      byte wanted = arrived ? pattern.sent(i) : pattern.before(i);
      byte found = memory.get(ValueLayout.JAVA_BYTE, i);
      if (found != wanted) {
        throw new WrongDataException(
            "%s: byte %d of %d is 0x%02x, not 0x%02x%s"
                .formatted(
                    what,
                    i,
                    memory.byteSize(),
                    found,
                    wanted,
                    arrived
                        ? wrongBecause(pattern, i, found)
                        : "; nothing was to be written there"));
      }
    }
  }

  private static String wrongBecause(BytePattern pattern, long at, byte found) {
    return found == pattern.before(at) ? ": nothing arrived there" : "";
  }
}
