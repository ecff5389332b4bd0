package org.jofi.abidouble;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jofi.transport.Comm;
import org.jofi.transport.CommState;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;

/**
 * A process with a connection to the other one in each direction.
 *
 * @param index which of the two it is
 * @param library what its provider stands on
 */
record Connected(
    int index, AbiDouble library, Device device, SendComm send, RecvComm receive, Arena arena) {
  static final Duration BOUND = Duration.ofSeconds(30);

  private static final int MEET = 0x3EE7;
  private static final int SWAP = 0x5A4B;

  /** A post, which may have to be tried again. */
  interface Post {
    long tryOnce();
  }

  /** Posts, and drives both directions until the post is taken; its request. */
  long post(Post post) {
    long[] request = {Result.TRY_AGAIN};
    await(
        "posting",
        () -> {
          request[0] = post.tryOnce();
          return request[0] != Result.TRY_AGAIN;
        });
    return request[0];
  }

  /** Drives both directions until a request is over; its result. */
  long result(Comm comm, long request) {
    long[] result = {Result.IN_PROGRESS};
    await(
        "a request of " + comm.label(),
        () -> {
          result[0] = comm.test(request);
          return Result.isOver(result[0]);
        });
    return result[0];
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

  /** The same, and it failed so. */
  void failed(Comm comm, long request, FailureCause cause) {
    long result = result(comm, request);
    if (result != cause.code()) {
      throw new AssertionError(
          "%s: %s instead of %s, %s"
              .formatted(comm.label(), Result.describe(result), cause, comm.failure(request)));
    }
  }

  /** Drives both directions until something is so. */
  void await(String what, BooleanSupplier done) {
    long end = System.nanoTime() + BOUND.toNanos();
    while (!done.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("nothing came of " + what);
      }
      progress(send);
      progress(receive);
      Thread.yield();
    }
  }

  private static void progress(Comm comm) {
    if (comm.state() != CommState.CLOSED) {
      comm.progress();
    }
  }

  /** Both sides know that the other one is done with what came before. */
  void meet() {
    MemorySegment in = arena.allocate(64, 64);
    MemorySegment out = arena.allocate(64, 64);
    Registration source = send.register(out, Use.SEND);
    Registration sink = receive.register(in, Use.RECEIVE);
    for (int round = 0; round < 2; round++) {
      long received = post(() -> receive.irecv(sink, MEET));
      long sent = post(() -> send.isend(source, MEET));
      moved(send, sent, 64);
      moved(receive, received, 64);
    }
    source.close();
    sink.close();
  }

  /** Tells the other process of memory of this one; what the other one tells in return. */
  RemoteMemory swap(RemoteMemory mine) {
    MemorySegment out = arena.allocate(RemoteMemory.MAX_BYTES, 64);
    MemorySegment in = arena.allocate(RemoteMemory.MAX_BYTES, 64);
    byte[] bytes = mine.encode();
    MemorySegment.copy(bytes, 0, out, ValueLayout.JAVA_BYTE, 0, bytes.length);
    Registration source = send.register(out, Use.SEND);
    Registration sink = receive.register(in, Use.RECEIVE);
    long received = post(() -> receive.irecv(sink, SWAP));
    long sent = post(() -> send.isend(source, 0, bytes.length, SWAP));
    moved(send, sent, bytes.length);
    // Both have as many rails, so that theirs is as long.
    moved(receive, received, bytes.length);
    source.close();
    sink.close();
    return RemoteMemory.decode(in.asSlice(0, bytes.length).toArray(ValueLayout.JAVA_BYTE));
  }

  /** Bytes that tell which message they are of, and that this process sent it. */
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

  /** Bytes that tell which message they are of, and which process sent it. */
  static void pattern(MemorySegment memory, int message, int sender) {
    for (long at = 0; at < memory.byteSize(); at++) {
      memory.set(
          ValueLayout.JAVA_BYTE, at, (byte) (at * 7 + (at >>> 12) + message * 13L + sender * 101L));
    }
  }
}
