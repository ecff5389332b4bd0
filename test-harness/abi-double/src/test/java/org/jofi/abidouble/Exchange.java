package org.jofi.abidouble;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;

/** What two connected processes do with each other. */
enum Exchange {
  /** Messages of all lengths, both ways, every byte of them looked at; then an orderly close. */
  MESSAGES {
    @Override
    void run(Connected side) {
      int message = 0;
      for (long length : LENGTHS) {
        MemorySegment out = side.arena().allocate(Math.max(length, 1), 64);
        MemorySegment in = side.arena().allocate(Math.max(length, 1), 64);
        side.fill(out, message);
        Registration source = side.send().regMr(out);
        Registration sink = side.receive().regMr(in);
        long received = side.post(() -> side.receive().irecv(in.address(), length, TAG, sink));
        long sent = side.post(() -> side.send().isend(out.address(), length, TAG, source));
        side.moved(side.send(), sent, length);
        side.moved(side.receive(), received, length);
        side.check(in.asSlice(0, length), message);
        side.send().deregMr(source);
        side.receive().deregMr(sink);
        message++;
      }
      meet(side);
    }
  },

  /** Eight messages at once, received as one request. */
  GROUPS {
    @Override
    void run(Connected side) {
      int count = side.device().properties().limits().groupedReceives();
      for (int round = 0; round < 8; round++) {
        group(side, count, round);
      }
      meet(side);
    }
  },

  /** One side closes with receives that nobody will answer. */
  CLOSE_IN_FLIGHT {
    @Override
    void run(Connected side) {
      leaveInFlight(
          side, FailureCause.CLOSED, FailureCause.PEER_CLOSED, () -> side.receive().close());
    }
  },

  /** One side aborts with receives that nobody will answer. */
  ABORT_IN_FLIGHT {
    @Override
    void run(Connected side) {
      leaveInFlight(
          side, FailureCause.ABORTED, FailureCause.PEER_ABORTED, () -> side.receive().abort());
    }
  },

  /** One side closes its transport in the midst of traffic. */
  CLOSE_UNDER_LOAD {
    @Override
    void run(Connected side) {
      MemorySegment out = side.arena().allocate(LONG_BYTES, 64);
      MemorySegment in = side.arena().allocate(LONG_BYTES, 64);
      Registration source = side.send().regMr(out);
      Registration sink = side.receive().regMr(in);
      long received = side.post(() -> side.receive().irecv(sink, TAG));
      long sent = side.post(() -> side.send().isend(source, TAG));
      if (side.index() == 0) {
        // Some of it moved, as like as not; the transport is closed next.
        side.send().test(sent);
        return;
      }
      over(side.result(side.send(), sent));
      over(side.result(side.receive(), received));
    }

    private void over(long result) {
      if (result != LONG_BYTES
          && result != FailureCause.PEER_CLOSED.code()
          && result != FailureCause.PEER_ABORTED.code()
          && result != FailureCause.PEER_LOST.code()
          && result != FailureCause.FABRIC.code()) {
        throw new AssertionError(Result.describe(result));
      }
    }
  },

  /** One side dies with requests in flight; the other one finds out and closes. */
  DEATH_OF_ONE {
    @Override
    void run(Connected side) {
      meet(side);
      MemorySegment in = side.arena().allocate(LONG_BYTES, 64);
      Registration sink = side.receive().regMr(in);
      long received = side.post(() -> side.receive().irecv(sink, TAG));
      if (side.index() == 0) {
        Runtime.getRuntime().halt(DEATH);
      }
      failed(side.result(side.receive(), received), FailureCause.PEER_LOST);
    }

    @Override
    Duration peerTimeout() {
      return Duration.ofSeconds(3);
    }
  };

  /** Exit code of a process that dies. */
  static final int DEATH = 9;

  private static final int TAG = 0x5EED;
  private static final long LONG_BYTES = 4L << 20;
  private static final long[] LENGTHS = {
    0, 1, 63, 64, 65, 4095, 4096, 4097, 65_536, 100_001, 1 << 20, (1 << 20) + 1, LONG_BYTES, 0, 7
  };

  /** With both sides open; this one closes its transport afterwards. */
  abstract void run(Connected side);

  /** Rules that may be broken: between closing its regions and its endpoints nobody is told. */
  Rule[] excused() {
    return this == MESSAGES || this == GROUPS ? new Rule[0] : new Rule[] {Rule.REMOTE_KEY_CLOSED};
  }

  /** How long a peer may be silent: long, where others load the machine. */
  Duration peerTimeout() {
    return Duration.ofSeconds(60);
  }

  private static void group(Connected side, int count, int round) {
    List<Registration> sources = new ArrayList<>();
    long[] addresses = new long[count];
    long[] lengths = new long[count];
    int[] tags = new int[count];
    Registration[] sinks = new Registration[count];
    List<MemorySegment> ins = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      lengths[i] = 1 + (i * 9973L + round * 4001L) % 40_000;
      tags[i] = i;
      MemorySegment in = side.arena().allocate(lengths[i], 64);
      MemorySegment out = side.arena().allocate(lengths[i], 64);
      side.fill(out, i + round);
      addresses[i] = in.address();
      sinks[i] = side.receive().regMr(in);
      ins.add(in);
      sources.add(side.send().regMr(out));
    }
    long received = side.post(() -> side.receive().irecv(count, addresses, lengths, tags, sinks));
    long[] sent = new long[count];
    // From the last tag to the first: they are matched by tag.
    for (int i = count - 1; i >= 0; i--) {
      int tag = i;
      sent[i] = side.post(() -> side.send().isend(sources.get(tag), tag));
    }
    long sum = 0;
    for (int i = 0; i < count; i++) {
      side.moved(side.send(), sent[i], lengths[i]);
      sum += lengths[i];
    }
    side.moved(side.receive(), received, sum);
    for (int i = 0; i < count; i++) {
      side.check(ins.get(i), i + round);
      side.send().deregMr(sources.get(i));
      side.receive().deregMr(sinks[i]);
    }
  }

  /** Both sides know that the other one is done with what came before. */
  private static void meet(Connected side) {
    MemorySegment in = side.arena().allocate(64, 64);
    MemorySegment out = side.arena().allocate(64, 64);
    Registration source = side.send().regMr(out);
    Registration sink = side.receive().regMr(in);
    for (int round = 0; round < 2; round++) {
      long received = side.post(() -> side.receive().irecv(sink, TAG));
      long sent = side.post(() -> side.send().isend(source, TAG));
      side.moved(side.send(), sent, 64);
      side.moved(side.receive(), received, 64);
    }
  }

  private static void leaveInFlight(
      Connected side, FailureCause here, FailureCause there, Runnable end) {
    meet(side);
    MemorySegment in = side.arena().allocate(LONG_BYTES, 64);
    Registration sink = side.receive().regMr(in);
    long first = side.post(() -> side.receive().irecv(sink, 1));
    long second = side.post(() -> side.receive().irecv(in.address(), 100, 2, sink));
    if (side.index() == 0) {
      end.run();
      failed(side.receive().test(first), here);
      failed(side.receive().test(second), here);
      return;
    }
    // The other side's receiver goes: what this side sends to it fails. Then this side's sender
    // does not go on either.
    MemorySegment out = side.arena().allocate(64, 64);
    Registration source = side.send().regMr(out);
    long sent = side.post(() -> side.send().isend(source, 3));
    failed(side.result(side.send(), sent), there);
  }

  private static void failed(long result, FailureCause cause) {
    if (result != cause.code()) {
      throw new AssertionError("%s instead of %s".formatted(Result.describe(result), cause));
    }
  }
}
