package org.jofi.rdma.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Copies of short messages that no receive takes yet, in the order of their ordinals; also of such
 * that came before their turn. As many as a sender has credit for, at most; their memory is used
 * again, and nothing is allocated once there were as many before.
 */
final class UnexpectedMessages {
  private static final int LEAST_BYTES = 64;

  private final List<Message> stored = new ArrayList<>(0);
  private final ArrayDeque<Message> free = new ArrayDeque<>(0);

  static final class Message {
    MemorySegment copy = MemorySegment.NULL;
    long ordinal;

    /** How many receives its sender had seen. */
    long seen;

    int tag;
    int lengthBytes;
  }

  int count() {
    return stored.size();
  }

  /** One of them, the oldest at 0. */
  Message get(int place) {
    return stored.get(place);
  }

  /** Makes room for a message, in its place; null if it is there already. */
  @Nullable Message add(long ordinal, long receivesSeen, int tag, int lengthBytes) {
    int place = stored.size();
    while (place > 0 && stored.get(place - 1).ordinal >= ordinal) {
      place--;
    }
    if (place < stored.size() && stored.get(place).ordinal == ordinal) {
      return null;
    }
    Message message = free.isEmpty() ? new Message() : free.removeLast();
    message.ordinal = ordinal;
    message.seen = receivesSeen;
    message.tag = tag;
    message.lengthBytes = lengthBytes;
    if (message.copy.byteSize() < Math.max(1, lengthBytes)) {
      int bytes = Math.max(LEAST_BYTES, Integer.highestOneBit(Math.max(1, lengthBytes - 1)) * 2);
      message.copy = Arena.ofAuto().allocate(bytes, Long.BYTES);
    }
    stored.add(place, message);
    return message;
  }

  /** The oldest of a tag, up to an ordinal; null if there is none. */
  @Nullable Message oldest(int tag, long through) {
    for (int place = 0; place < stored.size(); place++) {
      Message message = stored.get(place);
      if (message.tag == tag && message.ordinal <= through) {
        return message;
      }
    }
    return null;
  }

  void remove(Message message) {
    stored.remove(message);
    free.addLast(message);
  }
}
