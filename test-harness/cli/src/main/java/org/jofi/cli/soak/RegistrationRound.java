package org.jofi.cli.soak;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.Comm;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.Transport;
import org.jofi.transport.Use;

/**
 * Memory is registered for all uses, several times over, released, forgotten, and freed, in random
 * order. Nothing moves. For one thread; run once.
 */
final class RegistrationRound {
  private static final int MOST_ARENAS = 6;
  private static final int MOST_REGISTRATIONS = 4;
  private static final int LONGEST_POWER = 23;

  private final Transport transport;
  private final RingLinks links;
  private final GenerationMemory memory;
  private final SplittableRandom random;

  RegistrationRound(Transport transport, RingLinks links, GenerationMemory memory, long seed) {
    this.transport = transport;
    this.links = links;
    this.memory = memory;
    this.random = new SplittableRandom(seed);
  }

  /** Runs it; no byte is checked. */
  long run() {
    int arenas = random.nextInt(1, MOST_ARENAS + 1);
    for (int i = 0; i < arenas; i++) {
      registerAndFree();
    }
    return 0;
  }

  private void registerAndFree() {
    Arena arena = memory.open();
    MemorySegment segment = arena.allocate(Math.max(1, Rounds.length(random, LONGEST_POWER)));
    List<Registration> open = new ArrayList<>();
    int count = random.nextInt(1, MOST_REGISTRATIONS + 1);
    for (int i = 0; i < count; i++) {
      Comm comm = random.nextBoolean() ? links.toNext() : links.fromPrevious();
      long from = random.nextLong(segment.byteSize());
      MemorySegment part = segment.asSlice(from, random.nextLong(1, segment.byteSize() - from + 1));
      open.add(comm.register(part, use()));
    }
    for (Registration each : open) {
      if (!each.isOpen()) {
        throw new WrongDataException("a registration that was just made is not open");
      }
    }
    if (random.nextBoolean()) {
      open.remove(random.nextInt(open.size())).close();
    }
    if (random.nextBoolean()) {
      transport.forget(Memory.of(segment));
      requireClosed(open, "forgotten");
    }
    memory.close(arena);
    requireClosed(open, "freed");
    open.forEach(Registration::close);
  }

  private Use use() {
    Use[] uses = Use.values();
    return uses[random.nextInt(uses.length)];
  }

  private static void requireClosed(List<Registration> all, String how) {
    for (Registration each : all) {
      if (each.isOpen()) {
        throw new WrongDataException("a registration is open whose memory was " + how);
      }
    }
  }
}
