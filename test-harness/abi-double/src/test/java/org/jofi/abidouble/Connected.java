package org.jofi.abidouble;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.jofi.transport.Comm;
import org.jofi.transport.Device;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;

/**
 * A process with a connection to the other one in each direction.
 *
 * @param index which of the two it is
 */
record Connected(int index, Device device, SendComm send, RecvComm receive, Arena arena) {
  static final Duration BOUND = Duration.ofSeconds(30);

  /** A post, which may have to be tried again. */
  interface Post {
    long tryOnce();
  }

  /** Posts, and drives both directions until the post is taken; its request. */
  long post(Post post) {
    long end = end();
    long request = post.tryOnce();
    while (request == Result.TRY_AGAIN) {
      progress(end, "posting");
      request = post.tryOnce();
    }
    return request;
  }

  /** Drives both directions until a request is over; its result. */
  long result(Comm comm, long request) {
    long end = end();
    long result = comm.test(request);
    while (result == Result.IN_PROGRESS) {
      progress(end, "a request of " + comm.label());
      result = comm.test(request);
    }
    return result;
  }

  /** The same, and it moved that much. */
  void moved(Comm comm, long request, long lengthBytes) {
    long result = result(comm, request);
    if (result != lengthBytes) {
      throw new AssertionError(
          "%s: %s instead of %d bytes, %s"
              .formatted(
                  comm.label(), Result.describe(result), lengthBytes, comm.failure(request)));
    }
  }

  private static long end() {
    return System.nanoTime() + BOUND.toNanos();
  }

  private void progress(long end, String what) {
    if (System.nanoTime() > end) {
      throw new AssertionError("nothing came of " + what);
    }
    send.progress();
    receive.progress();
    Thread.yield();
  }

  /** Bytes that tell which message they are of, and whose. */
  void fill(MemorySegment memory, int message) {
    pattern(memory, message, index);
  }

  /** Every byte is what the other process sent. */
  void check(MemorySegment memory, int message) {
    MemorySegment expected = arena.allocate(Math.max(1, memory.byteSize()), 64);
    MemorySegment wanted = expected.asSlice(0, memory.byteSize());
    pattern(wanted, message, 1 - index);
    long differs = wanted.mismatch(memory);
    if (differs >= 0) {
      throw new AssertionError(
          "message %d of %d bytes differs at %d".formatted(message, memory.byteSize(), differs));
    }
  }

  private static void pattern(MemorySegment memory, int message, int sender) {
    for (long at = 0; at < memory.byteSize(); at++) {
      memory.set(
          ValueLayout.JAVA_BYTE, at, (byte) (at * 7 + (at >>> 12) + message * 13L + sender * 101L));
    }
  }
}
