package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.transport.Result;

/** Messages from one node to the other, some into one grouped receive, some of device memory. */
final class MessageFlow extends Flow {
  private static final int AT_ONCE = 6;
  private static final int MOST_OF_GROUP = 4;
  private static final int TAG = 7;

  private final int stagedOf;
  private final DataRegistration from;
  private final DataRegistration to;
  private final DeviceMemory source;
  private final DeviceMemory target;
  private final boolean[] staged = new boolean[(int) SLOTS];
  private final ArrayDeque<Send> sends = new ArrayDeque<>();
  private final ArrayDeque<Receive> receives = new ArrayDeque<>();

  private record Send(int number, long bytes, long id) {}

  /** Of messages with numbers in a row. */
  private record Receive(int first, List<MemorySegment> sent, long id) {}

  /**
   * @param stagedOf one of so many is of device memory, at either side; 0 for none
   */
  MessageFlow(Pair pair, boolean mayFail, int stagedOf, DeviceMemory source, DeviceMemory target) {
    super(pair, mayFail);
    this.stagedOf = stagedOf;
    this.source = source;
    this.target = target;
    from = pair.memory(pair.sends, SLOTS * MOST_BYTES);
    to = pair.memory(pair.receives, SLOTS * MOST_BYTES);
  }

  private MemorySegment source(int number, boolean onDevice, long bytes) {
    return slot(onDevice ? source.sent() : Pair.segment(from), number, bytes);
  }

  @Override
  MemorySegment target(int number, long bytes) {
    boolean onDevice = staged[(int) (number % SLOTS)];
    return slot(onDevice ? target.received() : Pair.segment(to), number, bytes);
  }

  @Override
  boolean isOver() {
    return sends.isEmpty() && receives.isEmpty();
  }

  @Override
  int underWay() {
    return sends.size() + receives.size();
  }

  @Override
  boolean hasRoom() {
    int messages = receives.stream().mapToInt(receive -> receive.sent.size()).sum();
    return Math.max(messages, sends.size()) + MOST_OF_GROUP <= AT_ONCE + MOST_OF_GROUP
        && receives.size() < AT_ONCE;
  }

  @Override
  void begin(Random random) {
    int count = random.nextInt(4) == 0 ? 2 + random.nextInt(MOST_OF_GROUP - 1) : 1;
    int first = started();
    long[] rooms = new long[count];
    List<MemorySegment> sent = new ArrayList<>();
    boolean[] fromDevice = new boolean[count];
    for (int i = 0; i < count; i++) {
      int number = next();
      long room = random.nextInt(4) == 0 ? 1 + random.nextInt(64) : 1 + random.nextLong(MOST_BYTES);
      rooms[i] = room;
      long bytes = random.nextInt(3) == 0 ? random.nextLong(room + 1) : room;
      fromDevice[i] = isStaged(random);
      staged[(int) (number % SLOTS)] = count == 1 && isStaged(random);
      MemorySegment memory = source(number, fromDevice[i], bytes);
      Pair.fill(memory, number);
      sent.add(memory);
      target(number, MOST_BYTES).fill((byte) 0);
    }
    boolean receivesFirst = random.nextBoolean();
    long early = receivesFirst ? receive(first, rooms) : 0;
    for (int i = 0; i < count; i++) {
      sends.add(new Send(first + i, sent.get(i).byteSize(), send(sent.get(i), i, fromDevice[i])));
    }
    long id = receivesFirst ? early : receive(first, rooms);
    receives.add(new Receive(first, sent, id));
  }

  private boolean isStaged(Random random) {
    return stagedOf > 0 && random.nextInt(stagedOf) == 0;
  }

  private long send(MemorySegment memory, int tag, boolean onDevice) {
    long address = memory.address();
    long bytes = memory.byteSize();
    if (!onDevice) {
      return taken(Posting.send(pair.sends.sender, address, bytes, TAG + tag, from), "send");
    }
    return taken(pair.sends.sender.send(address, bytes, TAG + tag, null, source.space()), "send");
  }

  private long receive(int first, long[] rooms) {
    int count = rooms.length;
    long[] addresses = new long[count];
    int[] tags = new int[count];
    DataRegistration[] memory = new DataRegistration[count];
    for (int i = 0; i < count; i++) {
      addresses[i] = target(first + i, rooms[i]).address();
      tags[i] = TAG + i;
    }
    Arrays.fill(memory, to);
    if (!staged[(int) (first % SLOTS)]) {
      return taken(
          Posting.receive(pair.receives.receiver, count, addresses, rooms, tags, memory),
          "receive");
    }
    long id = receiveStaged(addresses[0], rooms[0]);
    return taken(
        id == Result.TRY_AGAIN && target.space().grow()
            ? receiveStaged(addresses[0], rooms[0])
            : id,
        "receive");
  }

  private long receiveStaged(long address, long room) {
    return pair.receives.receiver.receiveStaged(target.space(), address, room, TAG);
  }

  @Override
  void look() {
    // As who waits for a request does.
    source.space().grow();
    for (Receive next = receives.peek(); next != null && isDone(next); next = receives.peek()) {
      receives.remove();
      for (int i = 0; i < next.sent.size(); i++) {
        verify(next.first + i, next.sent.get(i));
      }
    }
    for (Send next = sends.peek(); next != null && isDone(next); next = sends.peek()) {
      sends.remove();
    }
  }

  private boolean isDone(Send send) {
    return isDone(pair.sends, send.id, send.bytes, () -> "send " + send.number);
  }

  private boolean isDone(Receive receive) {
    long all = receive.sent.stream().mapToLong(MemorySegment::byteSize).sum();
    return isDone(pair.receives, receive.id, all, () -> "receive " + receive.first);
  }
}
