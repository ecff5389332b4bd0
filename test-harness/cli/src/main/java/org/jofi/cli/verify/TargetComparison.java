package org.jofi.cli.verify;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The comparison of a target, byte by byte, with the data that was sent and the data that was there
 * before.
 *
 * @param messageBytes length of the message
 * @param right how many bytes of the message are those that were sent
 * @param old how many bytes of the message are those that were there before
 * @param firstWrong position of the first byte that is not the one that was sent; -1 if there is
 *     none
 * @param lastWrong position of the last such byte; -1 if there is none
 * @param touchedAround how many bytes before and after the message changed
 * @param shiftBytes distance of the message from its place; 0 if it was not found elsewhere
 */
record TargetComparison(
    long messageBytes,
    long right,
    long old,
    long firstWrong,
    long lastWrong,
    long touchedAround,
    long shiftBytes) {

  /** Fewer bytes in a row may be equal by chance. */
  private static final int TELLING_BYTES = 8;

  static TargetComparison of(MemorySegment target, BytePattern pattern, long guard, long message) {
    long right = 0;
    long old = 0;
    long firstWrong = -1;
    long lastWrong = -1;
    long touched = 0;
    for (long at = 0; at < target.byteSize(); at++) {
      byte found = target.get(ValueLayout.JAVA_BYTE, at);
      long position = at - guard;
      boolean before = found == pattern.before(position);
      if (position < 0 || position >= message) {
        touched += before ? 0 : 1;
      } else if (found == pattern.sent(position)) {
        right++;
      } else {
        old += before ? 1 : 0;
        firstWrong = firstWrong < 0 ? position : firstWrong;
        lastWrong = position;
      }
    }
    long shift = right == message ? 0 : shift(target, pattern, guard, message);
    return new TargetComparison(message, right, old, firstWrong, lastWrong, touched, shift);
  }

  /** Looks for the beginning and the end of the message in other places. */
  private static long shift(MemorySegment target, BytePattern pattern, long guard, long message) {
    if (message < TELLING_BYTES) {
      return 0;
    }
    for (long piece : new long[] {0, message - TELLING_BYTES}) {
      for (long at = 0; at <= target.byteSize() - TELLING_BYTES; at++) {
        if (at != guard + piece && isPiece(target, at, pattern, piece)) {
          return at - guard - piece;
        }
      }
    }
    return 0;
  }

  private static boolean isPiece(MemorySegment target, long at, BytePattern pattern, long piece) {
    for (int i = 0; i < TELLING_BYTES; i++) {
      if (target.get(ValueLayout.JAVA_BYTE, at + i) != pattern.sent(piece + i)) {
        return false;
      }
    }
    return true;
  }

  boolean isDelivered() {
    return right == messageBytes && touchedAround == 0;
  }

  /** The fault, if the target stays like this. */
  DeliveryFault fault() {
    if (isDelivered()) {
      return DeliveryFault.NONE;
    }
    if (shiftBytes != 0 || touchedAround > 0) {
      return DeliveryFault.WRONG_PLACE;
    }
    if (right + old < messageBytes) {
      return DeliveryFault.CORRUPTED;
    }
    return right == 0 ? DeliveryFault.NOTHING_ARRIVED : DeliveryFault.PARTIAL;
  }

  /** The numbers, as text. */
  String detail() {
    if (isDelivered()) {
      return "all %d bytes".formatted(messageBytes);
    }
    StringBuilder text =
        new StringBuilder("%d of %d bytes are what was sent".formatted(right, messageBytes));
    if (firstWrong >= 0) {
      text.append(
          ", %d what was there before, %d neither; wrong from byte %d to %d"
              .formatted(old, messageBytes - right - old, firstWrong, lastWrong));
    }
    if (touchedAround > 0) {
      text.append("; %d bytes around the buffer changed".formatted(touchedAround));
    }
    if (shiftBytes != 0) {
      text.append("; the message was found %+d bytes from its place".formatted(shiftBytes));
    }
    return text.toString();
  }
}
