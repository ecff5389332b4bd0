package org.jofi.cli.soak;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.cli.verify.BytePattern;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;

/**
 * Each rank writes into memory of the next one, and reads memory of the next one; the owner checks
 * every byte of the one, the reader of the other. For one thread; run once.
 */
final class OneSidedRound {
  private static final int LONGEST_POWER = 21;
  private static final long PAGE_BYTES = 4096;

  private final RingLinks links;
  private final BoundedWait patience;
  private final SendComm next;
  private final RecvComm previous;
  private final GenerationMemory memory;
  private final long seed;
  private final long length;
  private final long from;
  private final long regionBytes;

  OneSidedRound(RingLinks links, GenerationMemory memory, long seed) {
    this.links = links;
    this.patience = links.patience();
    this.next = links.toNext();
    this.previous = links.fromPrevious();
    this.memory = memory;
    this.seed = seed;
    SplittableRandom random = new SplittableRandom(seed);
    length = Rounds.length(random, LONGEST_POWER);
    from = random.nextLong(PAGE_BYTES);
    regionBytes = from + length + random.nextLong(1, PAGE_BYTES);
  }

  /** Runs it; how many bytes were checked. */
  long run() {
    int rank = links.ranks().rank();
    int ranks = links.ranks().size();
    int after = (rank + 1) % ranks;
    int before = Math.floorMod(rank - 1, ranks);
    Arena arena = memory.open();
    MemorySegment written = arena.allocate(regionBytes);
    MemorySegment readable = arena.allocate(regionBytes);
    MemorySegment out = arena.allocate(regionBytes);
    MemorySegment in = arena.allocate(regionBytes);
    writes(before).fillBefore(written, 0);
    reads(rank).fillSent(readable);
    writes(rank).fillSent(out);
    reads(after).fillBefore(in, 0);
    Registration target = previous.register(written, Use.PEER_WRITES);
    Registration source = previous.register(readable, Use.PEER_READS);
    RemoteMemory[] remote = exchange(target, source, after);
    long writing = posted(() -> next.iwrite(out, from, length, remote[0], from));
    long reading = posted(() -> next.iread(in, from, length, remote[1], from));
    await(writing, "writing");
    await(reading, "reading");
    long last = Math.min(regionBytes - from - length, inlineBytes());
    await(
        posted(() -> next.iwriteInline(out, from + length, last, remote[0], from + length)),
        "writing inline");
    links.gather(new byte[0]);
    MatchedBytes.check(written, from, length + last, writes(before), "written by the peer");
    MatchedBytes.check(in, from, length, reads(after), "read from the peer");
    target.close();
    source.close();
    memory.close(arena);
    return 2 * regionBytes;
  }

  private long inlineBytes() {
    return next.device().properties().limits().inlineWriteBytes();
  }

  /** Where to write, and where to read from. */
  private RemoteMemory[] exchange(Registration target, Registration source, int after) {
    byte[] write = target.remote().encode();
    byte[] read = source.remote().encode();
    byte[] both = new byte[1 + write.length + read.length];
    both[0] = (byte) write.length;
    System.arraycopy(write, 0, both, 1, write.length);
    System.arraycopy(read, 0, both, 1 + write.length, read.length);
    byte[] theirs = links.gather(both).get(after);
    int first = Byte.toUnsignedInt(theirs[0]);
    return new RemoteMemory[] {
      RemoteMemory.decode(Arrays.copyOfRange(theirs, 1, 1 + first)),
      RemoteMemory.decode(Arrays.copyOfRange(theirs, 1 + first, theirs.length))
    };
  }

  private long posted(LongSupplier post) {
    patience.progressed();
    long request = post.getAsLong();
    while (request == Result.TRY_AGAIN) {
      next.progress();
      patience.idle("room for a one-sided operation");
      request = post.getAsLong();
    }
    return request;
  }

  private void await(long request, String what) {
    String name = "%s %d bytes at %d".formatted(what, length, from);
    patience.progressed();
    while (patience.test(next, request, name) == Result.IN_PROGRESS) {
      previous.progress();
      patience.idle(name);
    }
  }

  private BytePattern writes(int rank) {
    return new BytePattern(seed ^ (long) rank << 48);
  }

  private BytePattern reads(int rank) {
    return new BytePattern(~seed ^ (long) rank << 48);
  }
}
