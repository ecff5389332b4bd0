package org.jofi.processes;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/**
 * One process of {@link ReconnectTest}. Its main thread does what NCCL's service thread does:
 * connects, registers, closes. Others post and poll.
 */
final class ReconnectMain {
  private static final int IN_FLIGHT = 32;
  private static final int CHECKED = 8;
  private static final int TAG = 3;

  /** Where a message may lie, and where in it. */
  private static final int ROOM = 128 * 1024;

  private static final int MOST_BYTES = 64 * 1024;

  private final Peer peer;
  private final boolean first;
  private final MemorySegment memory;
  private final SplittableRandom random = new SplittableRandom(11);
  private long longestCloseNs;

  private ReconnectMain(Peer peer, boolean first, Arena arena) {
    this.peer = peer;
    this.first = first;
    memory = arena.allocate(2L * IN_FLIGHT * ROOM, 4096);
  }

  /**
   * Arguments: provider, whether endpoints have threads, threads beside, rounds, seconds, rails.
   */
  public static void main(String[] arguments) throws Exception {
    TransportOptions.Builder options =
        TransportOptions.builder().progressThreads(ProgressThreads.valueOf(arguments[1]));
    boolean first = arguments[6].equals("first");
    try (Arena arena = Arena.ofShared();
        Peer peer = new Peer(arguments[0], Integer.parseInt(arguments[5]), options)) {
      ConnectHandle other = peer.exchange();
      ReconnectMain main = new ReconnectMain(peer, first, arena);
      List<Traffic> traffic = new ArrayList<>();
      for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
        traffic.add(new Traffic(i, peer.link(other), first, arena));
        main.meet("linked");
      }
      traffic.forEach(Traffic::start);
      long end = System.nanoTime() + Long.parseLong(arguments[4]) * 1_000_000_000L;
      int most = Integer.parseInt(arguments[3]);
      int round = 0;
      while (main.again(round < most && System.nanoTime() - end < 0)) {
        main.round(peer.link(other), round++);
        for (Traffic each : traffic) {
          each.demandGoingOn();
          each.register(main.random);
        }
      }
      for (Traffic each : traffic) {
        Peer.tell(Long.toString(each.stop()));
      }
      for (Traffic each : traffic) {
        each.drain(Long.parseLong(Peer.hear()));
      }
      main.meet("drained");
      for (Traffic each : traffic) {
        each.end();
      }
      System.out.printf(
          "%d rounds, the longest close took %d ms; beside them %s%n",
          round, main.longestCloseNs / 1_000_000, traffic);
      main.meet("done");
    }
  }

  static void demand(boolean holds, String what) {
    demand(holds, () -> what);
  }

  static void demand(boolean holds, Supplier<String> what) {
    if (!holds) {
      throw new IllegalStateException("demanded: " + what.get());
    }
  }

  /** Both are here. */
  private void meet(String word) throws IOException {
    Peer.tell(word);
    String heard = Peer.hear();
    demand(heard.equals(word), word + " of the other, not " + heard);
  }

  /** The first process decides for both. */
  private boolean again(boolean wanted) throws IOException {
    if (first) {
      Peer.tell(Boolean.toString(wanted));
      return wanted;
    }
    return Boolean.parseBoolean(Peer.hear());
  }

  private void round(Peer.Link link, int round) throws IOException {
    exchange(link, round);
    List<Long> receives = new ArrayList<>();
    List<Long> sends = new ArrayList<>();
    for (int i = 0; i < IN_FLIGHT; i++) {
      Registration into = link.receive().register(place(i, MOST_BYTES), Use.RECEIVE);
      receives.add(link.receive().irecv(into, TAG));
    }
    meet("receives posted");
    for (int i = 0; i < IN_FLIGHT; i++) {
      Registration from =
          link.send().register(place(IN_FLIGHT + i, 1 + random.nextInt(MOST_BYTES)), Use.SEND);
      sends.add(posted(link.send(), () -> link.send().isend(from, TAG)));
      // So that it starts.
      link.send().progress();
    }
    long start = System.nanoTime();
    link.send().close();
    link.receive().close();
    longestCloseNs = Math.max(longestCloseNs, System.nanoTime() - start);
    demandEnded(link.send(), sends);
    demandEnded(link.receive(), receives);
    meet("closed");
  }

  /** Messages both ways of which none is in flight when anybody closes. */
  private void exchange(Peer.Link link, int round) throws IOException {
    List<Message> receives = new ArrayList<>();
    List<Message> sends = new ArrayList<>();
    SplittableRandom ours = new SplittableRandom(2L * round + (first ? 0 : 1));
    SplittableRandom theirs = new SplittableRandom(2L * round + (first ? 1 : 0));
    for (int i = 0; i < CHECKED; i++) {
      Message expected = new Message(place(i, 1 + theirs.nextInt(MOST_BYTES)), theirs.nextLong());
      Registration into = link.receive().register(expected.memory, Use.RECEIVE);
      expected.request = link.receive().irecv(into, TAG);
      receives.add(expected);
    }
    for (int i = 0; i < CHECKED; i++) {
      Message message =
          new Message(place(IN_FLIGHT + i, 1 + ours.nextInt(MOST_BYTES)), ours.nextLong());
      message.fill();
      Registration from = link.send().register(message.memory, Use.SEND);
      message.request = posted(link.send(), () -> link.send().isend(from, TAG));
      sends.add(message);
    }
    for (Message message : sends) {
      message.demandDone(peer.await.request(link.send(), message.request, Peer.BOUND));
    }
    for (Message message : receives) {
      message.demandDone(peer.await.request(link.receive(), message.request, Peer.BOUND));
      message.check();
    }
    meet("exchanged");
  }

  /** Somewhere else each time, so that registering it reaches the NICs. */
  private MemorySegment place(int slot, int bytes) {
    long offset = (long) slot * ROOM + random.nextInt(ROOM - MOST_BYTES + 1);
    return memory.asSlice(offset, bytes);
  }

  private long posted(Comm comm, LongSupplier post) {
    return peer.await.posted(comm, post, Peer.BOUND);
  }

  /** What was in flight when both closed is over: well, or since one of them closed. */
  private static void demandEnded(Comm comm, List<Long> requests) {
    for (long request : requests) {
      long deadline = System.nanoTime() + Peer.BOUND.toNanos();
      long result = comm.test(request);
      // A progress thread that copies puts off who tests.
      while (result == Result.IN_PROGRESS && System.nanoTime() - deadline < 0) {
        Thread.yield();
        result = comm.test(request);
      }
      boolean asExpected =
          result >= 0
              || result == FailureCause.CLOSED.code()
              || result == FailureCause.PEER_CLOSED.code();
      demand(
          asExpected,
          "a request of %s to end as its connection: %s, %s"
              .formatted(comm, Result.describe(result), comm.failure(request)));
    }
  }
}
