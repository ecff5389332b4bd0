package org.jofi.cli.soak;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.cli.verify.BytePattern;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * Messages from each rank to the next one, of random lengths and tags, several at once, at times
 * sent before their receives are posted. Every byte is checked, and that none beside a message was
 * written. For one thread; run once.
 */
final class MessageRound {
  private static final int MOST_MESSAGES = 16;
  private static final int MOST_WINDOW = 8;
  private static final int MOST_TAGS = 3;

  /** Behind each receive, so that a byte too many is seen. */
  private static final long GUARD_BYTES = 64;

  private final RingLinks links;
  private final BoundedWait patience;
  private final SendComm next;
  private final RecvComm previous;
  private final GenerationMemory memory;
  private final long seed;
  private final boolean registers;
  private final boolean sendsFirst;
  private final int window;
  private final long[] offsets;
  private final long[] lengths;
  private final int[] tags;
  private final long[] sends;
  private final long[] receives;
  private int sendsPosted;
  private int sendsDone;
  private int receivesPosted;
  private int receivesDone;

  MessageRound(RingLinks links, GenerationMemory memory, long seed, int longestPower) {
    this.links = links;
    this.patience = links.patience();
    this.next = links.toNext();
    this.previous = links.fromPrevious();
    this.memory = memory;
    this.seed = seed;
    SplittableRandom random = new SplittableRandom(seed);
    registers = random.nextBoolean();
    sendsFirst = random.nextBoolean();
    window = random.nextInt(1, MOST_WINDOW + 1);
    int count = random.nextInt(1, MOST_MESSAGES + 1);
    int tagCount = random.nextInt(1, MOST_TAGS + 1);
    int firstTag = random.nextInt();
    offsets = new long[count + 1];
    lengths = new long[count];
    tags = new int[count];
    sends = new long[count];
    receives = new long[count];
    for (int i = 0; i < count; i++) {
      lengths[i] = Rounds.length(random, longestPower);
      tags[i] = firstTag + random.nextInt(tagCount);
      offsets[i + 1] = offsets[i] + lengths[i] + GUARD_BYTES;
    }
  }

  /** Runs it; how many bytes were checked. */
  long run() {
    int count = lengths.length;
    int rank = links.ranks().rank();
    int before = Math.floorMod(rank - 1, links.ranks().size());
    Arena arena = memory.open();
    MemorySegment out = arena.allocate(offsets[count]);
    MemorySegment in = arena.allocate(offsets[count]);
    for (int i = 0; i < count; i++) {
      pattern(rank, i).fillSent(slot(out, i).asSlice(0, lengths[i]));
      pattern(before, i).fillBefore(slot(in, i), 0);
    }
    Registration sending = registers ? next.register(out, Use.SEND) : null;
    Registration receiving = registers ? previous.register(in, Use.RECEIVE) : null;
    if (sendsFirst) {
      postSends(out, sending);
      links.gather(new byte[0]);
    }
    transfer(out, in, sending, receiving);
    for (int i = 0; i < count; i++) {
      check(slot(in, i), i, pattern(before, i));
    }
    if (sending != null && receiving != null) {
      sending.close();
      receiving.close();
    }
    memory.close(arena);
    return offsets[count];
  }

  private void transfer(
      MemorySegment out,
      MemorySegment in,
      @Nullable Registration sending,
      @Nullable Registration receiving) {
    patience.progressed();
    while (sendsDone < lengths.length || receivesDone < lengths.length) {
      boolean worked = postReceives(in, receiving);
      worked |= postSends(out, sending);
      worked |= takeReceive();
      worked |= takeSend();
      if (worked) {
        patience.progressed();
      } else {
        patience.idle("its messages to leave and to arrive");
      }
    }
  }

  private boolean postReceives(MemorySegment in, @Nullable Registration registration) {
    boolean worked = false;
    while (receivesPosted < lengths.length && receivesPosted - receivesDone < window) {
      int i = receivesPosted;
      long length = lengths[i] + GUARD_BYTES / 2;
      long request =
          registration == null
              ? previous.irecv(in, offsets[i], length, tags[i])
              : previous.irecv(registration, offsets[i], length, tags[i]);
      if (request == Result.TRY_AGAIN) {
        break;
      }
      receives[i] = request;
      receivesPosted++;
      worked = true;
    }
    return worked;
  }

  private boolean postSends(MemorySegment out, @Nullable Registration registration) {
    boolean worked = false;
    while (sendsPosted < lengths.length && sendsPosted - sendsDone < window) {
      int i = sendsPosted;
      long request =
          registration == null
              ? next.isend(out, offsets[i], lengths[i], tags[i])
              : next.isend(registration, offsets[i], lengths[i], tags[i]);
      if (request == Result.TRY_AGAIN) {
        break;
      }
      sends[i] = request;
      sendsPosted++;
      worked = true;
    }
    return worked;
  }

  private boolean takeReceive() {
    if (receivesDone == receivesPosted) {
      previous.progress();
      return false;
    }
    return took(
        receivesDone,
        patience.test(previous, receives[receivesDone], "receiving " + name(receivesDone)),
        () -> receivesDone++);
  }

  private boolean takeSend() {
    if (sendsDone == sendsPosted) {
      next.progress();
      return false;
    }
    return took(
        sendsDone,
        patience.test(next, sends[sendsDone], "sending " + name(sendsDone)),
        () -> sendsDone++);
  }

  private boolean took(int message, long result, Runnable done) {
    if (result == Result.IN_PROGRESS) {
      return false;
    }
    if (result != lengths[message]) {
      throw new WrongDataException(
          "%s: the request reports %d bytes".formatted(name(message), result));
    }
    done.run();
    return true;
  }

  private void check(MemorySegment slot, int message, BytePattern pattern) {
    MatchedBytes.check(slot, 0, lengths[message], pattern, name(message));
  }

  private MemorySegment slot(MemorySegment all, int message) {
    return all.asSlice(offsets[message], offsets[message + 1] - offsets[message]);
  }

  private BytePattern pattern(int rank, int message) {
    return new BytePattern(seed ^ (long) rank << 48 ^ (long) message << 32);
  }

  private String name(int message) {
    return "message %d of %d, %d bytes, tag 0x%x, %s, window %d%s"
        .formatted(
            message,
            lengths.length,
            lengths[message],
            tags[message],
            registers ? "registered" : "by segment",
            window,
            sendsFirst ? ", sends first" : "");
  }
}
