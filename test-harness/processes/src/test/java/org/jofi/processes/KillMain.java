package org.jofi.processes;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.FailureCause;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/**
 * One process of {@link KillTest}: the first survives, and demands that all that it has pending is
 * reported; the second is killed by it at a given moment, and replaced for the next one.
 */
final class KillMain {
  /** When the second process dies. */
  enum Moment {
    CONNECTING,
    ACCEPTED,
    RECEIVES_POSTED,
    TRANSFERRING,
    /** Sends that no receive awaits. */
    SENDS_QUEUED,
    FLUSHING,
    CLOSING,
    /** With the lock of its own endpoints, in memory that both share. */
    HOLDING_ITS_LOCK,
    /** With the lock of the survivor's. */
    HOLDING_OUR_LOCK
  }

  private static final int RAILS = 2;
  private static final int RECEIVES = 32;
  private static final long LARGE = 64L << 20;
  private static final int TAG = 5;
  private static final String READY = "ready ";
  private static final long STARTING_NS = 20_000_000;

  /** More than the limits below sum up to: they count time in which a process could look. */
  private static final long REPORT_NS = 15_000_000_000L;

  private static final long PAUSE_NS = 100_000;

  /** Until everything is closed. */
  static final long SURVIVAL_MS = 40_000;

  /**
   * Who may never give back what was posted for a dead peer: shm; and efa, up to libfabric 1.17 at
   * least, whose writes the target reads.
   */
  private static final Set<String> KEEPING = Set.of("shm", "efa");

  private KillMain() {}

  /** Arguments: provider, moments, with commas between, whether endpoints have threads, side. */
  public static void main(String[] arguments) throws IOException {
    String provider = arguments[0];
    ProgressThreads threads = ProgressThreads.valueOf(arguments[2]);
    if (!arguments[3].equals("first")) {
      Moment moment = Moment.valueOf(Peer.hear());
      try (Arena arena = Arena.ofShared();
          Peer peer = new Peer(provider, RAILS, options(provider, moment, threads))) {
        serve(peer, moment, arena);
      }
      return;
    }
    boolean again = false;
    for (String name : arguments[1].split(",", -1)) {
      if (again) {
        System.out.println(ProcessPair.NEW_PEER);
      }
      again = true;
      Moment moment = Moment.valueOf(name);
      System.out.println(moment);
      Peer.tell(name);
      long killed;
      try (Arena arena = Arena.ofShared();
          Peer peer = new Peer(provider, RAILS, options(provider, moment, threads))) {
        killed = survive(peer, moment, arena);
      }
      demandInTime("all of it", killed, SURVIVAL_MS * 1_000_000);
    }
  }

  private static TransportOptions.Builder options(
      String provider, Moment moment, ProgressThreads threads) {
    // Connecting itself may take long: efa waits up to a second before it sends again to a peer
    // that was not ready.
    return TransportOptions.builder()
        .progressThreads(threads)
        .connectTimeout(moment == Moment.CONNECTING ? Duration.ofSeconds(2) : Peer.BOUND)
        .requestTimeout(Duration.ofSeconds(2))
        .peerTimeout(Duration.ofSeconds(1))
        // Short where a close takes all of it. Elsewhere other threads wait while a rail closes,
        // which takes time on a busy machine.
        .closeTimeout(Duration.ofSeconds(KEEPING.contains(provider) ? 2 : 10))
        .flushPolicy(FlushPolicy.ALWAYS);
  }

  /** Does its part until it is killed. */
  private static void serve(Peer peer, Moment moment, Arena arena) throws IOException {
    ConnectHandle other = peer.exchange();
    if (moment == Moment.CONNECTING) {
      // It neither accepts nor answers.
      Peer.hear();
      return;
    }
    Peer.Link link = peer.link(other);
    Registration memory = link.receive().register(arena.allocate(LARGE), Use.RECEIVE);
    Registration source = link.send().register(arena.allocate(LARGE), Use.SEND);
    Peer.tell(READY + ProcessHandle.current().pid());
    if (moment == Moment.TRANSFERRING) {
      long receive = 0;
      long send = 0;
      while (true) {
        receive = next(link.receive(), receive, () -> link.receive().irecv(memory, TAG));
        send = next(link.send(), send, () -> link.send().isend(source, TAG));
        Thread.yield();
      }
    }
    Peer.hear();
  }

  private interface Post {
    long post();
  }

  private static long next(Comm comm, long request, Post post) {
    if (request > 0 && comm.test(request) == Result.IN_PROGRESS) {
      return request;
    }
    return post.post();
  }

  /** When it killed the other. */
  private static long survive(Peer peer, Moment moment, Arena arena) throws IOException {
    ConnectHandle other = peer.exchange();
    if (moment == Moment.CONNECTING) {
      ConnectAttempt attempt = peer.device.connect(other);
      long killed = kill();
      try {
        peer.await.connection(attempt, Peer.BOUND);
        // It was granted before the death: then the death is found out about as later ones are.
        System.out.println("connected all the same");
      } catch (TransportException e) {
        System.out.println("connecting: " + e.getMessage());
      }
      demandInTime("the end of the attempt", killed, REPORT_NS);
      return killed;
    }
    Peer.Link link = peer.link(other);
    Registration memory = link.receive().register(arena.allocate(LARGE), Use.RECEIVE);
    Registration source = link.send().register(arena.allocate(LARGE), Use.SEND);
    String word = Peer.hear();
    if (!word.startsWith(READY)) {
      throw new IllegalStateException("no word from the peer but " + word);
    }
    List<Long> receives = new ArrayList<>();
    List<Long> sends = new ArrayList<>();
    switch (moment) {
      case RECEIVES_POSTED -> {
        for (int i = 0; i < RECEIVES; i++) {
          receives.add(link.receive().irecv(memory, 0, 1000, TAG));
        }
      }
      case TRANSFERRING -> {
        receives.add(link.receive().irecv(memory, TAG));
        sends.add(link.send().isend(source, TAG));
        // Until its receive is there.
        long end = System.nanoTime() + STARTING_NS;
        while (System.nanoTime() - end < 0) {
          link.send().progress();
        }
      }
      case SENDS_QUEUED -> {
        // The short one waits behind the long one: alone it would leave at once.
        sends.add(link.send().isend(source, TAG));
        sends.add(link.send().isend(source, 0, 8, TAG));
      }
      case FLUSHING -> flush(link, memory, 1000);
      case HOLDING_ITS_LOCK ->
          SharedMemoryLocks.hold(Long.parseLong(word.substring(READY.length())));
      case HOLDING_OUR_LOCK -> SharedMemoryLocks.hold(ProcessHandle.current().pid());
      default -> {}
    }
    long killed = kill();
    if (moment == Moment.CLOSING) {
      close(link);
      demandInTime("both closes", killed, REPORT_NS);
      return killed;
    }
    long since = killed;
    if (moment == Moment.FLUSHING) {
      // A flush needs no peer, and nothing awaits the peer until the receive below.
      flush(link, memory, 1000);
      since = System.nanoTime();
    }
    if (moment == Moment.HOLDING_OUR_LOCK) {
      // Others still reach the survivor: here itself.
      close(peer.link(peer.listener.handle()));
    }
    // Posting to the dead succeeds; the request tells.
    receives.add(link.receive().irecv(memory, 0, 10, TAG));
    receives.forEach(request -> demandFailure(link.receive(), request));
    for (long request : sends) {
      boolean failed = demandFailure(link.send(), request);
      if (!failed && moment == Moment.SENDS_QUEUED) {
        throw new IllegalStateException("a send without a receive did not fail");
      }
    }
    demandInTime("the report of all requests", since, REPORT_NS);
    close(link);
    return killed;
  }

  private static long kill() {
    System.out.println(ProcessPair.KILL_PEER);
    return System.nanoTime();
  }

  private static void demandInTime(String what, long since, long mostNs) {
    long took = System.nanoTime() - since;
    System.out.printf("%s took %d ms%n", what, took / 1_000_000);
    if (took > mostNs) {
      throw new IllegalStateException("too late");
    }
  }

  private static void flush(Peer.Link link, Registration memory, int times) {
    long begun = System.nanoTime();
    for (int i = 0; i < times; i++) {
      long flush = link.receive().iflush(memory, 0, 4096);
      long result = Result.IN_PROGRESS;
      while (result == Result.IN_PROGRESS) {
        if (System.nanoTime() - begun > Peer.BOUND.toNanos()) {
          throw new IllegalStateException("flush %d of %d never ended".formatted(i + 1, times));
        }
        result = link.receive().test(flush);
      }
      if (result < 0 && !FailureCause.isFailure(result)) {
        throw new IllegalStateException("a flush: " + Result.describe(result));
      }
    }
    System.out.printf("%d flushes took %d ms%n", times, (System.nanoTime() - begun) / 1_000_000);
  }

  /** Awaits its end; whether it failed. */
  private static boolean demandFailure(Comm comm, long request) {
    long deadline = System.nanoTime() + Peer.BOUND.toNanos();
    long result = comm.test(request);
    while (result == Result.IN_PROGRESS) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException(comm + " never reported a request");
      }
      LockSupport.parkNanos(PAUSE_NS);
      result = comm.test(request);
    }
    if (!FailureCause.isFailure(result)) {
      // What was complete before the death may say so.
      System.out.println(comm + ": " + Result.describe(result));
      return false;
    }
    System.out.println(comm.failure(request).orElseThrow());
    return true;
  }

  private static void close(Peer.Link link) {
    try {
      link.send().close();
      link.receive().close();
    } catch (TransportException e) {
      System.out.println("closing: " + e.getMessage());
      if (e.failure().cause() != FailureCause.TIMED_OUT
          || !KEEPING.contains(link.send().device().properties().provider())) {
        throw e;
      }
      // That is said, and the transport's close takes it away.
    }
  }
}
