package org.jofi.abidouble;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.LongStream;
import org.jofi.processes.ProcessPair;
import org.jofi.transport.CommState;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ReceiveGroup;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.Use;

/** What two connected processes do with each other. */
enum Exchange {
  /** Messages of all lengths, both ways, every byte of them looked at; then an orderly close. */
  MESSAGES {
    @Override
    void run(Connected side) {
      messages(side, (in, length, sink) -> {});
      side.meet();
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
      side.meet();
    }
  },

  /** What is received is read through every data rail; also when the sender is gone. */
  FLUSHES {
    @Override
    void run(Connected side) {
      messages(
          side,
          (in, length, sink) -> {
            long flush = side.post(() -> side.receive().iflush(sink, 0, length));
            if (length > 0) {
              side.moved(side.receive(), flush, length);
            } else if (flush != Result.NOTHING_TO_DO) {
              throw new AssertionError("a flush of nothing: " + Result.describe(flush));
            }
          });
      manyFlushes(side);
      long flushes = LongStream.of(LENGTHS).filter(length -> length > 0).count() + FLUSHES_AT_ONCE;
      requireReads(side, flushes);
      side.meet();
      if (side.index() == 0) {
        side.send().close();
        return;
      }
      side.await("the other's closing", () -> side.receive().state() == CommState.FAILED);
      manyFlushes(side);
      requireReads(side, flushes + FLUSHES_AT_ONCE);
    }
  },

  /** Writes, inline writes and reads, both ways over both connections. */
  ONE_SIDED {
    @Override
    void run(Connected side) {
      new OneSidedExchange(side).run();
    }
  },

  /** Writes and reads of what the other process did not offer, or does not any more. */
  WRONG_TARGETS {
    @Override
    void run(Connected side) {
      new WrongTargets(side).run();
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
      Registration source = side.send().register(out, Use.SEND);
      Registration sink = side.receive().register(in, Use.RECEIVE);
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

  /** One side is killed with requests in flight; the other one finds out and closes. */
  DEATH_OF_ONE {
    @Override
    void run(Connected side) {
      side.meet();
      MemorySegment in = side.arena().allocate(LONG_BYTES, 64);
      Registration sink = side.receive().register(in, Use.RECEIVE);
      long received = side.post(() -> side.receive().irecv(sink, TAG));
      if (side.index() == 1) {
        side.await("being killed", () -> false);
      }
      System.out.println(ProcessPair.KILL_PEER);
      side.failed(side.receive(), received, FailureCause.PEER_LOST);
    }

    @Override
    Duration peerTimeout() {
      return Duration.ofSeconds(3);
    }
  };

  private static final int TAG = 0x5EED;
  private static final long LONG_BYTES = 4L << 20;
  private static final int FLUSHES_AT_ONCE = 64;
  private static final long[] LENGTHS = {
    0, 1, 63, 64, 65, 4095, 4096, 4097, 65_536, 100_001, 1 << 20, (1 << 20) + 1, LONG_BYTES, 0, 7
  };

  /** With both sides open; this one closes its transport afterwards. */
  abstract void run(Connected side);

  /** Rules that may be broken. */
  Rule[] excused() {
    return switch (this) {
      case MESSAGES, GROUPS, FLUSHES, ONE_SIDED -> new Rule[0];
      case WRONG_TARGETS -> WrongTargets.rules();
      // Between closing its regions and its endpoints nobody is told.
      case CLOSE_IN_FLIGHT, ABORT_IN_FLIGHT, CLOSE_UNDER_LOAD, DEATH_OF_ONE ->
          new Rule[] {Rule.REMOTE_KEY_CLOSED};
    };
  }

  /** How long a peer may be silent: long, where others load the machine. */
  Duration peerTimeout() {
    return Duration.ofSeconds(60);
  }

  /** What is done with a message that was received, before its bytes are looked at. */
  private interface Arrival {
    void of(MemorySegment in, long lengthBytes, Registration sink);
  }

  /** A message of each length, both ways, and every byte of it looked at. */
  private static void messages(Connected side, Arrival arrival) {
    int message = 0;
    for (long length : LENGTHS) {
      MemorySegment out = side.arena().allocate(Math.max(length, 1), 64);
      MemorySegment in = side.arena().allocate(Math.max(length, 1), 64);
      side.fill(out, message);
      Registration source = side.send().register(out, Use.SEND);
      Registration sink = side.receive().register(in, Use.RECEIVE);
      long received = side.post(() -> side.receive().irecv(sink, 0, length, TAG));
      long sent = side.post(() -> side.send().isend(source, 0, length, TAG));
      side.moved(side.send(), sent, length);
      side.moved(side.receive(), received, length);
      arrival.of(in, length, sink);
      side.check(in.asSlice(0, length), message);
      source.close();
      sink.close();
      message++;
    }
  }

  /** Many flushes at once, each of other bytes. */
  private static void manyFlushes(Connected side) {
    Registration memory =
        side.receive().register(side.arena().allocate(FLUSHES_AT_ONCE, 64), Use.RECEIVE);
    long[] flushes = new long[FLUSHES_AT_ONCE];
    for (int i = 0; i < FLUSHES_AT_ONCE; i++) {
      int offset = i;
      int length = FLUSHES_AT_ONCE - i;
      flushes[i] = side.post(() -> side.receive().iflush(memory, offset, length));
    }
    for (int i = 0; i < FLUSHES_AT_ONCE; i++) {
      side.moved(side.receive(), flushes[i], FLUSHES_AT_ONCE - i);
    }
    memory.close();
  }

  /** Each flush has read through each data rail, once. */
  private static void requireReads(Connected side, long flushes) {
    Map<String, Long> reads = side.library().posted("fi_read");
    int rails = side.device().properties().rails().size();
    if (reads.size() != rails || !Set.copyOf(reads.values()).equals(Set.of(flushes))) {
      throw new AssertionError(
          "%d flushes over %d rails, and reads: %s".formatted(flushes, rails, reads));
    }
  }

  private static void group(Connected side, int count, int round) {
    List<Registration> sources = new ArrayList<>();
    long[] lengths = new long[count];
    ReceiveGroup receives = new ReceiveGroup();
    List<MemorySegment> ins = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      lengths[i] = 1 + (i * 9973L + round * 4001L) % 40_000;
      MemorySegment in = side.arena().allocate(lengths[i], 64);
      MemorySegment out = side.arena().allocate(lengths[i], 64);
      side.fill(out, i + round);
      receives.add(side.receive().register(in, Use.RECEIVE), 0, lengths[i], i);
      ins.add(in);
      sources.add(side.send().register(out, Use.SEND));
    }
    long received = side.post(() -> side.receive().irecv(receives));
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
      sources.get(i).close();
      Objects.requireNonNull(receives.registration(i)).close();
    }
  }

  private static void leaveInFlight(
      Connected side, FailureCause here, FailureCause there, Runnable end) {
    side.meet();
    MemorySegment in = side.arena().allocate(LONG_BYTES, 64);
    Registration sink = side.receive().register(in, Use.RECEIVE);
    long first = side.post(() -> side.receive().irecv(sink, 1));
    long second = side.post(() -> side.receive().irecv(sink, 0, 100, 2));
    if (side.index() == 0) {
      end.run();
      side.failed(side.receive(), first, here);
      side.failed(side.receive(), second, here);
      return;
    }
    // The other side's receiver goes: what this side sends to it fails. Then this side's sender
    // does not go on either.
    MemorySegment out = side.arena().allocate(LONG_BYTES, 64);
    Registration source = side.send().register(out, Use.SEND);
    // A short one would leave without a receive.
    long sent = side.post(() -> side.send().isend(source, 3));
    side.failed(side.send(), sent, there);
  }
}
