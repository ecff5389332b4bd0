package org.jofi.rdma.sequence;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Copies of short messages that no receive takes yet, in the order of their ordinals; also of such
 * that came before their turn. As many as a sender has credit for, at most; their memory is used
 * again, and nothing is allocated once there were as many before.
 */
public final class UnexpectedMessages {
  public static final int NONE = -1;

  private static final int LEAST_BYTES = 64;

  private @Nullable MemorySegment[] copies = new @Nullable MemorySegment[0];
  private long[] ordinals = new long[0];
  private long[] seen = new long[0];
  private int[] tags = new int[0];
  private int[] lengths = new int[0];
  private int[] next = new int[0];
  private int first = NONE;
  private int free = NONE;
  private int count;

  public int count() {
    return count;
  }

  /** Makes room for a message, in its place; {@link #NONE} if it is there already. */
  public int add(long ordinal, long receivesSeen, int tag, int lengthBytes) {
    int before = NONE;
    int after = first;
    while (after != NONE && ordinals[after] < ordinal) {
      before = after;
      after = next[after];
    }
    if (after != NONE && ordinals[after] == ordinal) {
      return NONE;
    }
    if (free == NONE) {
      grow();
    }
    int message = free;
    free = next[message];
    ordinals[message] = ordinal;
    seen[message] = receivesSeen;
    tags[message] = tag;
    lengths[message] = lengthBytes;
    next[message] = after;
    if (before == NONE) {
      first = message;
    } else {
      next[before] = message;
    }
    count++;
    MemorySegment copy = copies[message];
    if (copy == null || copy.byteSize() < lengthBytes) {
      int bytes = Math.max(LEAST_BYTES, Integer.highestOneBit(Math.max(1, lengthBytes - 1)) * 2);
      copies[message] = Arena.ofAuto().allocate(bytes, Long.BYTES);
    }
    return message;
  }

  private void grow() {
    int old = next.length;
    int more = Math.max(4, 2 * old);
    copies = Arrays.copyOf(copies, more);
    ordinals = Arrays.copyOf(ordinals, more);
    seen = Arrays.copyOf(seen, more);
    tags = Arrays.copyOf(tags, more);
    lengths = Arrays.copyOf(lengths, more);
    next = Arrays.copyOf(next, more);
    for (int message = more - 1; message >= old; message--) {
      next[message] = free;
      free = message;
    }
  }

  /** The oldest; {@link #NONE} if there is none. */
  public int first() {
    return first;
  }

  /** The one after it; {@link #NONE} if there is none. */
  public int after(int message) {
    return next[message];
  }

  /** The oldest of a tag, up to an ordinal; {@link #NONE} if there is none. */
  public int first(int tag, long through) {
    int message = first;
    while (message != NONE && ordinals[message] <= through) {
      if (tags[message] == tag) {
        return message;
      }
      message = next[message];
    }
    return NONE;
  }

  public long ordinal(int message) {
    return ordinals[message];
  }

  /** How many receives its sender had seen. */
  public long seen(int message) {
    return seen[message];
  }

  public int tag(int message) {
    return tags[message];
  }

  public int lengthBytes(int message) {
    return lengths[message];
  }

  /** Where its bytes are, or go. */
  public long address(int message) {
    MemorySegment copy = copies[message];
    if (copy == null) {
      throw new IllegalArgumentException("no message " + message);
    }
    return copy.address();
  }

  public void remove(int message) {
    int before = NONE;
    int at = first;
    while (at != message) {
      before = at;
      at = next[at];
    }
    if (before == NONE) {
      first = next[message];
    } else {
      next[before] = next[message];
    }
    next[message] = free;
    free = message;
    count--;
  }
}
