package org.jofi.processes;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jofi.transport.Comm;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * A connection that lasts, driven by a thread of its own, as NCCL's progress thread does: messages
 * both ways, numbered, every byte checked.
 */
final class Traffic {
  private static final int WINDOW = 4;
  private static final int MOST_BYTES = 96 * 1024;
  private static final int TAG = 9;
  private static final int MOST_WAITING = 8;
  private static final long TO_COME = Long.MAX_VALUE;

  private final Peer.Link link;
  private final long seed;
  private final long peerSeed;
  private final MemorySegment memory;
  private final MemorySegment registered;
  private final Registration source;
  private final Registration target;
  private final ArrayDeque<Message> sends = new ArrayDeque<>();
  private final ArrayDeque<Message> receives = new ArrayDeque<>();
  private final Queue<Registration> fresh = new ConcurrentLinkedQueue<>();
  private final FutureTask<Long> thread = new FutureTask<>(this::drive);
  private volatile boolean stopped;
  private volatile long sent = TO_COME;
  private volatile boolean idle;
  private volatile boolean ended;
  private volatile long toReceive = TO_COME;
  private long posted;
  private long awaited;

  Traffic(int number, Peer.Link link, boolean first, Arena arena) {
    this.link = link;
    seed = 1000L * number + (first ? 0 : 500);
    peerSeed = 1000L * number + (first ? 500 : 0);
    memory = arena.allocate(2L * WINDOW * MOST_BYTES, 4096);
    registered = arena.allocate(4L << 20, 4096);
    source = link.send().register(memory.asSlice(0, (long) WINDOW * MOST_BYTES), Use.SEND);
    target = link.receive().register(memory.asSlice((long) WINDOW * MOST_BYTES), Use.RECEIVE);
  }

  private static long within(Registration registration, Message message) {
    return message.memory.address() - registration.memory().address();
  }

  void start() {
    Thread.ofPlatform().daemon().name("traffic " + seed).start(thread);
  }

  /** Throws what ended it, if anything did. */
  void demandGoingOn() throws ExecutionException, InterruptedException {
    if (thread.isDone()) {
      throw new IllegalStateException("the traffic ended early, after " + thread.get());
    }
  }

  /** Registers some memory while the thread polls; the thread gives it back. */
  void register(SplittableRandom random) {
    while (fresh.size() < MOST_WAITING) {
      long offset = random.nextLong(registered.byteSize());
      fresh.add(
          link.send()
              .register(registered.asSlice(offset, registered.byteSize() - offset), Use.SEND));
    }
  }

  /** Sends nothing new; how many messages were sent. */
  long stop() throws InterruptedException {
    stopped = true;
    while (sent == TO_COME && !thread.isDone()) {
      Thread.sleep(1);
    }
    return sent;
  }

  /** Receives what the peer sent; the thread still polls, as the peer may need this side. */
  void drain(long peerSent) throws ExecutionException, InterruptedException {
    toReceive = peerSent;
    while (!idle) {
      Thread.sleep(1);
      demandGoingOn();
    }
  }

  /** After both sides drained it. */
  void end() throws ExecutionException, InterruptedException, TimeoutException {
    ended = true;
    thread.get(Peer.BOUND.toSeconds(), TimeUnit.SECONDS);
  }

  /** Until told to stop, and both sides have what was sent. */
  private long drive() {
    long moved = System.nanoTime();
    IdleStrategy idling = Peer.backoff();
    while (!ended) {
      idle = sent != TO_COME && sends.isEmpty() && awaited == toReceive;
      boolean out = send();
      boolean in = receive();
      if (out || in || idle) {
        moved = System.nanoTime();
      }
      long since = moved;
      ReconnectMain.demand(
          System.nanoTime() - since < Peer.BOUND.toNanos(), () -> "something to move: " + this);
      Registration unused = fresh.poll();
      if (unused != null) {
        unused.close();
      }
      idling.idle(out || in ? 1 : 0);
    }
    return awaited;
  }

  private boolean send() {
    if (stopped) {
      sent = posted;
    } else if (sends.size() < WINDOW) {
      Message next = message(seed, posted, 0);
      next.fill();
      next.request = link.send().isend(source, within(source, next), next.memory.byteSize(), TAG);
      if (next.request != Result.TRY_AGAIN) {
        sends.add(next);
        posted++;
      }
    }
    return took(link.send(), sends) != null;
  }

  private boolean receive() {
    while (receives.size() < WINDOW && awaited + receives.size() < toReceive) {
      Message next = message(peerSeed, awaited + receives.size(), WINDOW);
      next.request =
          link.receive().irecv(target, within(target, next), next.memory.byteSize(), TAG);
      ReconnectMain.demand(
          next.request > 0, () -> "a receive to be posted: " + Result.describe(next.request));
      receives.add(next);
    }
    Message message = took(link.receive(), receives);
    if (message != null) {
      message.check();
      awaited++;
    }
    return message != null;
  }

  /** The oldest, if it is done. */
  private static @Nullable Message took(Comm comm, ArrayDeque<Message> messages) {
    Message oldest = messages.peek();
    if (oldest == null) {
      comm.progress();
      return null;
    }
    long result = comm.test(oldest.request);
    if (result == Result.IN_PROGRESS) {
      return null;
    }
    ReconnectMain.demand(
        result == oldest.memory.byteSize(),
        () ->
            "a message that nobody closed to arrive: %s: %s, %s"
                .formatted(comm, Result.describe(result), comm.failure(oldest.request)));
    return messages.remove();
  }

  private Message message(long from, long number, int slot) {
    SplittableRandom random = new SplittableRandom(from * 1_000_003L + number);
    long place = (slot + number % WINDOW) * MOST_BYTES;
    int bytes = 1 + random.nextInt(random.nextInt(3) == 0 ? MOST_BYTES : 2000);
    return new Message(memory.asSlice(place, bytes), random.nextLong());
  }

  @Override
  public String toString() {
    return "%s: %d messages sent, %d under way; %s: %d received"
        .formatted(link.send(), posted, sends.size(), link.receive(), awaited);
  }
}
