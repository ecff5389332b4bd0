package org.jofi.abidouble;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jofi.transport.Comm;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.Use;

/**
 * Writes, inline writes and reads of all lengths from one end of each connection to the other, all
 * of them at once. Each has a slot of its own in the memory of either process, with untouched bytes
 * around what it moves; in the end every byte of both memories is compared.
 */
final class OneSidedExchange {
  private static final byte UNTOUCHED = (byte) 0xee;
  private static final int NOBODY = -1;
  private static final long GUARD = 64;
  private static final long[] LENGTHS = {
    0, 1, 63, 64, 65, 4095, 4096, 4097, 65_536, 100_001, (1 << 20) + 1, 4L << 20
  };

  private enum Kind {
    WRITE,
    INLINE,
    READ
  }

  /** What moves, from the same place of one memory to that of the other; at odd addresses, too. */
  private record Step(int number, Kind kind, long at, long lengthBytes) {}

  private final Connected side;
  private final List<Step> steps = new ArrayList<>();
  private long memoryBytes;

  OneSidedExchange(Connected side) {
    this.side = side;
    int inline = side.device().properties().limits().inlineWriteBytes();
    for (long length : LENGTHS) {
      add(Kind.WRITE, length);
      add(Kind.READ, length);
    }
    for (long length : new long[] {0, 1, 7, 8, 64, 65, inline}) {
      add(Kind.INLINE, length);
    }
  }

  private void add(Kind kind, long lengthBytes) {
    int number = steps.size();
    steps.add(new Step(number, kind, memoryBytes + GUARD + number % 5, lengthBytes));
    memoryBytes += lengthBytes + 2 * GUARD;
  }

  void run() {
    End send = new End(side.send());
    End receive = new End(side.receive());
    // The peer's other end reaches what is registered with this end.
    RemoteMemory sender = side.swap(send.window.remote());
    RemoteMemory receiver = side.swap(receive.window.remote());
    send.post(receiver);
    receive.post(sender);
    send.collect();
    receive.collect();
    side.meet();
    send.verify();
    receive.verify();
  }

  /**
   * All slots.
   *
   * @param writesOf the process whose bytes are in the slots of writes, or {@link #NOBODY}
   * @param readsOf likewise, of reads
   */
  private MemorySegment memory(int writesOf, int readsOf) {
    MemorySegment memory = side.arena().allocate(memoryBytes, 64).fill(UNTOUCHED);
    for (Step step : steps) {
      int process = step.kind() == Kind.READ ? readsOf : writesOf;
      if (process != NOBODY) {
        Connected.pattern(of(memory, step), step.number(), process);
      }
    }
    return memory;
  }

  private static MemorySegment of(MemorySegment memory, Step step) {
    return memory.asSlice(step.at(), step.lengthBytes());
  }

  /** One end of a connection, and what it has in flight. */
  private final class End {
    private final Comm comm;
    private final int other = 1 - side.index();
    private final MemorySegment local = memory(side.index(), NOBODY);
    private final MemorySegment reached = memory(NOBODY, side.index());
    private final Registration registration;
    private final Registration window;
    private final Map<Step, Long> requests = new HashMap<>();

    End(Comm comm) {
      this.comm = comm;
      registration = comm.register(local, Use.SEND, Use.RECEIVE);
      window = comm.register(reached, Use.PEER_READS, Use.PEER_WRITES);
    }

    void post(RemoteMemory there) {
      for (Step step : steps) {
        requests.put(step, side.post(() -> post(step, there)));
      }
    }

    private long post(Step step, RemoteMemory there) {
      long length = step.lengthBytes();
      return switch (step.kind()) {
        case WRITE -> comm.iwrite(registration, step.at(), length, there, step.at());
        case READ -> comm.iread(registration, step.at(), length, there, step.at());
        case INLINE -> {
          MemorySegment bytes = side.arena().allocate(Math.max(1, length), 64);
          bytes.asSlice(0, length).copyFrom(of(local, step));
          long request = comm.iwriteInline(bytes, 0, length, there, step.at());
          // They are the caller's again.
          bytes.fill(UNTOUCHED);
          yield request;
        }
      };
    }

    void collect() {
      requests.forEach(
          (step, request) -> {
            side.moved(comm, request, step.lengthBytes());
            if (step.kind() == Kind.READ) {
              MemorySegment expected = side.arena().allocate(Math.max(1, step.lengthBytes()));
              expected = expected.asSlice(0, step.lengthBytes());
              Connected.pattern(expected, step.number(), other);
              require(expected, of(local, step), step);
            }
            if (comm.test(request) != Result.STALE_REQUEST) {
              throw new AssertionError(step + " is reported twice");
            }
          });
    }

    void verify() {
      require(memory(side.index(), other), local, "what it wrote from and read into");
      require(memory(other, side.index()), reached, "what was written and read by the other");
      registration.close();
      window.close();
    }

    private void require(MemorySegment expected, MemorySegment found, Object what) {
      long differs = expected.mismatch(found);
      if (differs >= 0) {
        throw new AssertionError("%s, %s: byte %d".formatted(comm.label(), what, differs));
      }
    }
  }
}
