package org.jofi.processes;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/**
 * One process of {@link TrafficTest}. Both sides of a connection draw the same messages from the
 * connection's seed, so that the receiver knows what must arrive. Each of four threads drives two
 * connections, each of them in both directions.
 */
final class TrafficMain {
  private static final int LINKS = 8;
  private static final int THREADS = 4;
  private static final int MOST_IN_FLIGHT = 4;
  private static final long MOST_BYTES = 1L << 20;
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private TrafficMain() {}

  /** Arguments: provider, seconds, whether endpoints have threads, side. */
  public static void main(String[] arguments) throws Exception {
    boolean first = arguments[3].equals("first");
    TransportOptions.Builder options =
        TransportOptions.builder().progressThreads(ProgressThreads.valueOf(arguments[2]));
    try (Arena arena = Arena.ofShared();
        Peer peer = new Peer(arguments[0], 2, options)) {
      ConnectHandle other = peer.exchange();
      List<Flow> flows = new ArrayList<>();
      for (int i = 0; i < LINKS; i++) {
        // One at a time, so that both sides count alike.
        Peer.Link link = peer.link(other);
        Peer.tell("linked");
        ReconnectMain.demand(Peer.hear().equals("linked"), "the other's word");
        int sending = 2 * i + (first ? 0 : 1);
        int receiving = 2 * i + (first ? 1 : 0);
        flows.add(new Outgoing(link.send(), new Script(sending), arena));
        flows.add(new Incoming(link.receive(), new Script(receiving), arena));
      }
      long end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000_000L;
      run(flows, end);
      // Whoever sent more than the other took tells how much is still to come.
      for (Flow flow : flows) {
        if (flow instanceof Outgoing out) {
          Peer.tell(Long.toString(out.script.next));
        }
      }
      for (Flow flow : flows) {
        if (flow instanceof Incoming in) {
          in.last = Long.parseLong(Peer.hear());
        }
      }
      run(flows, 0);
      report(flows);
      Peer.tell("done");
      ReconnectMain.demand(Peer.hear().equals("done"), "the other's end");
    }
  }

  private static void report(List<Flow> flows) {
    long messages = flows.stream().mapToLong(flow -> flow.messages).sum();
    long bytes = flows.stream().mapToLong(flow -> flow.bytes).sum();
    System.out.printf("%d messages, %d MiB, every byte as sent%n", messages, bytes >> 20);
  }

  private static void run(List<Flow> flows, long end) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int mine = i;
        running.add(
            threads.submit(
                () -> {
                  List<Flow> own = new ArrayList<>();
                  for (int flow = 0; flow < flows.size(); flow++) {
                    if (flow / 2 % THREADS == mine) {
                      own.add(flows.get(flow));
                    }
                  }
                  drive(own, end);
                }));
      }
      for (Future<?> thread : running) {
        thread.get();
      }
    }
  }

  private static void drive(List<Flow> flows, long end) {
    boolean busy = true;
    long stuck = System.nanoTime();
    IdleStrategy idle = Peer.backoff();
    while (busy) {
      busy = false;
      boolean posting = end != 0 && System.nanoTime() < end;
      boolean moved = false;
      for (Flow flow : flows) {
        moved |= flow.step(posting, end == 0);
        busy |= posting || !flow.isIdle(end == 0);
      }
      if (moved) {
        stuck = System.nanoTime();
      } else {
        ReconnectMain.demand(
            System.nanoTime() - stuck < Peer.BOUND.toNanos(), () -> "something to move: " + flows);
      }
      idle.idle(moved ? 1 : 0);
    }
  }

  /** The messages of a direction of a connection. */
  private static final class Script {
    private final SplittableRandom random;
    private final int seed;
    private long next;

    Script(int seed) {
      this.seed = seed;
      random = new SplittableRandom(seed);
    }

    Message draw() {
      long shape = random.nextInt(4);
      long most = shape == 0 ? 64 : shape == 1 ? 4096 : shape == 2 ? 256 * 1024 : MOST_BYTES;
      return new Message(
          next++, random.nextLong(most + 1), random.nextInt(3) - 1, seed * 1_000_003L + next);
    }
  }

  /** One of them: its content is that of its pattern. */
  private record Message(long number, long bytes, int tag, long pattern) {
    void fill(MemorySegment memory) {
      long at = 0;
      long word = pattern;
      for (; at + 8 <= bytes; at += 8) {
        memory.set(LONG, at, word);
        word = word * 6364136223846793005L + 1442695040888963407L;
      }
      for (; at < bytes; at++) {
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) (word + at));
      }
    }

    void check(MemorySegment memory) {
      long at = 0;
      long word = pattern;
      for (; at + 8 <= bytes; at += 8) {
        if (memory.get(LONG, at) != word) {
          throw differs(at);
        }
        word = word * 6364136223846793005L + 1442695040888963407L;
      }
      for (; at < bytes; at++) {
        if (memory.get(ValueLayout.JAVA_BYTE, at) != (byte) (word + at)) {
          throw differs(at);
        }
      }
    }

    private IllegalStateException differs(long at) {
      return new IllegalStateException(this + " differs at " + at);
    }
  }

  /** A message in flight, and its buffer. */
  private static final class Slot {
    final MemorySegment memory;
    final Registration registration;
    Message message;
    long request;

    Slot(MemorySegment memory, Registration registration, Message none) {
      this.memory = memory;
      this.registration = registration;
      message = none;
    }
  }

  /** One direction of a connection. */
  private abstract static class Flow {
    final Script script;
    final ArrayDeque<Slot> free = new ArrayDeque<>();
    final ArrayDeque<Slot> flying = new ArrayDeque<>();
    long messages;
    long bytes;

    Flow(Script script) {
      this.script = script;
    }

    /** Posts or takes something; whether it did. */
    abstract boolean step(boolean posting, boolean draining);

    abstract boolean isIdle(boolean draining);

    static void demandWhole(Comm comm, Slot slot, long result) {
      ReconnectMain.demand(
          result == slot.message.bytes,
          () ->
              "%s of %s: %s, %s"
                  .formatted(
                      slot.message, comm, Result.describe(result), comm.failure(slot.request)));
    }

    @Override
    public String toString() {
      return "%s: %d done, %d in flight"
          .formatted(getClass().getSimpleName(), messages, flying.size());
    }
  }

  private static final class Outgoing extends Flow {
    private final SendComm comm;
    private Slot waiting;

    Outgoing(SendComm comm, Script script, Arena arena) {
      super(script);
      this.comm = comm;
      Message none = new Message(-1, 0, 0, 0);
      for (int i = 0; i < MOST_IN_FLIGHT; i++) {
        MemorySegment memory = arena.allocate(MOST_BYTES, 4096);
        free.add(
            new Slot(
                memory,
                comm.register(memory, Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES),
                none));
      }
    }

    @Override
    boolean step(boolean posting, boolean draining) {
      boolean moved = false;
      if (waiting == null && posting && !free.isEmpty()) {
        waiting = free.poll();
        waiting.message = script.draw();
        waiting.message.fill(waiting.memory);
      }
      if (waiting != null) {
        Message message = waiting.message;
        waiting.request = comm.isend(waiting.registration, 0, message.bytes, message.tag);
        if (waiting.request != Result.TRY_AGAIN) {
          flying.add(waiting);
          waiting = null;
          moved = true;
        }
      }
      Slot oldest = flying.peek();
      if (oldest != null) {
        long result = comm.test(oldest.request);
        if (result != Result.IN_PROGRESS) {
          demandWhole(comm, oldest, result);
          messages++;
          bytes += result;
          free.add(flying.remove());
          moved = true;
        }
      } else {
        comm.progress();
      }
      return moved;
    }

    @Override
    boolean isIdle(boolean draining) {
      // What found no receive in the first part finds it in the second.
      return draining ? waiting == null && flying.isEmpty() : true;
    }
  }

  private static final class Incoming extends Flow {
    private final RecvComm comm;
    private long last = Long.MAX_VALUE;

    Incoming(RecvComm comm, Script script, Arena arena) {
      super(script);
      this.comm = comm;
      Message none = new Message(-1, 0, 0, 0);
      for (int i = 0; i < MOST_IN_FLIGHT; i++) {
        MemorySegment memory = arena.allocate(MOST_BYTES, 4096);
        free.add(
            new Slot(
                memory,
                comm.register(memory, Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES),
                none));
      }
    }

    @Override
    boolean step(boolean posting, boolean draining) {
      boolean moved = false;
      if ((posting || draining) && !free.isEmpty() && script.next < last) {
        Slot slot = free.poll();
        slot.message = script.draw();
        // Some receives are longer than what is sent.
        long room =
            slot.message.number % 3 == 0
                ? Math.min(MOST_BYTES, slot.message.bytes + 100)
                : slot.message.bytes;
        slot.request = comm.irecv(slot.registration, 0, room, slot.message.tag);
        ReconnectMain.demand(slot.request > 0, () -> "an irecv: " + Result.describe(slot.request));
        flying.add(slot);
        moved = true;
      }
      Slot oldest = flying.peek();
      if (oldest != null && oldest.message.number < last) {
        long result = comm.test(oldest.request);
        if (result != Result.IN_PROGRESS) {
          demandWhole(comm, oldest, result);
          oldest.message.check(oldest.memory);
          messages++;
          bytes += result;
          free.add(flying.remove());
          moved = true;
        }
      } else {
        comm.progress();
      }
      return moved;
    }

    @Override
    boolean isIdle(boolean draining) {
      return !draining
          || (script.next >= last && (flying.isEmpty() || flying.peek().message.number >= last));
    }
  }
}
