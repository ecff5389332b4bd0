package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.transport.RemoteMemory;

/** Writes, inline writes and reads of one node in the other's memory. */
final class OneSidedFlow extends Flow {
  private static final int AT_ONCE = 6;

  private final DataRegistration here;
  private final DataRegistration there;
  private final DataRegistration landing;
  private final RemoteMemory remoteSources;
  private final RemoteMemory remoteTargets;
  private final boolean[] reads = new boolean[(int) SLOTS];
  private final List<Request> requests = new ArrayList<>();

  private record Request(int number, long bytes, long id, MemorySegment moved) {}

  OneSidedFlow(Pair pair, boolean mayFail) {
    super(pair, mayFail);
    here = pair.memory(pair.sends, 2 * SLOTS * MOST_BYTES);
    there = pair.memory(pair.receives, SLOTS * MOST_BYTES);
    landing = pair.memory(pair.receives, SLOTS * MOST_BYTES);
    remoteSources = Pair.remote(there);
    remoteTargets = Pair.remote(landing);
  }

  @Override
  MemorySegment target(int number, long bytes) {
    return reads[(int) (number % SLOTS)]
        ? slot(Pair.segment(here).asSlice(SLOTS * MOST_BYTES), number, bytes)
        : slot(Pair.segment(landing), number, bytes);
  }

  @Override
  boolean isOver() {
    return requests.isEmpty();
  }

  @Override
  int underWay() {
    return requests.size();
  }

  @Override
  boolean hasRoom() {
    // Requests are over in any order: none may find its slot taken.
    return requests.isEmpty()
        || (requests.size() < AT_ONCE && started() - requests.getFirst().number < SLOTS);
  }

  @Override
  void begin(Random random) {
    int number = next();
    boolean inline = random.nextInt(4) == 0;
    long most = inline ? OperationSink.INLINE_BYTES : MOST_BYTES;
    long bytes = 1 + random.nextLong(most);
    reads[(int) (number % SLOTS)] = !inline && random.nextBoolean();
    MemorySegment into = target(number, bytes);
    target(number, MOST_BYTES).fill((byte) 0);
    long id;
    MemorySegment from;
    if (reads[(int) (number % SLOTS)]) {
      from = slot(Pair.segment(there), number, bytes);
      Pair.fill(from, number);
      id = Posting.read(pair.sends, into.address(), bytes, here, remoteSources, at(number));
    } else {
      from = slot(Pair.segment(here), number, bytes);
      Pair.fill(from, number);
      id =
          inline
              ? pair.sends.oneSided.writeInline(from.address(), bytes, remoteTargets, at(number))
              : Posting.write(pair.sends, from.address(), bytes, here, remoteTargets, at(number));
    }
    requests.add(new Request(number, bytes, taken(id, "write or read"), from));
  }

  @Override
  void look() {
    requests.removeIf(
        request -> {
          boolean done = isDone(pair.sends, request.id, request.bytes, request::toString);
          if (done) {
            verify(request.number, request.moved);
          }
          return done;
        });
  }
}
