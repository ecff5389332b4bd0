package org.jofi.ranks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a rank has as long as it is one, whatever number it has: its way to what the ranks meet at.
 * It gives what comes from there to the ranks of the current generation. Any thread.
 */
final class Bootstrap {
  private static final Pattern IPV4_LOOPBACK = Pattern.compile("127(\\.[0-9]{1,3}){3}");
  private static final Duration SERVER_FIRST = Duration.ofSeconds(2);
  private static final Duration LAST_WORDS_WITHIN = Duration.ofSeconds(5);

  /** Nobody waits for long where no network is between. */
  private static final Duration THREADS_WITHIN = Duration.ofSeconds(60);

  private final RankNames names;
  private final FrameSink out;
  private final int localRank;
  private final Duration patience;
  private final StoreCalls calls = new StoreCalls();

  /** Ends after the last frame; says nothing where there is no connection to end. */
  private final AutoCloseable ending;

  private volatile @Nullable String serverLost;
  private JoinedRanks current;
  private boolean left;

  private Bootstrap(
      Placement placement,
      RankNames names,
      Duration patience,
      FrameSink out,
      AutoCloseable ending) {
    this.names = names;
    this.out = out;
    this.localRank = placement.localRank();
    this.patience = patience;
    this.ending = ending;
    this.current = new JoinedRanks(this, placement.rank(), placement.size());
  }

  /** As {@link Ranks#join(Placement, JoinOptions, Duration)}. */
  static Ranks join(Placement placement, JoinOptions options, Duration patience) {
    if (placement.rank() > 0 || placement.isForked() || !options.serves()) {
      return connect(placement, options, patience, null);
    }
    RankServer server =
        RankServer.open(
            listening(placement),
            placement.size(),
            options,
            patience,
            RankServer.Watch.CONNECTIONS);
    try {
      return connect(placement, options, patience, server);
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /**
   * Where ranks of this machine alone look for the server, no other machine reaches it. A name may
   * be this machine's own, for which it has a loopback address that nobody else looks at.
   */
  private static InetSocketAddress listening(Placement placement) {
    String host = placement.host();
    if (host.equals("localhost") || host.equals("::1") || IPV4_LOOPBACK.matcher(host).matches()) {
      return new InetSocketAddress(host, placement.port());
    }
    return new InetSocketAddress(placement.port());
  }

  private static Ranks connect(
      Placement placement, JoinOptions options, Duration patience, @Nullable RankServer served) {
    RankNames names = options.names();
    int rank = placement.rank();
    String name = names.name(rank, rank);
    String address = placement.address();
    long deadline = Timeout.deadline(patience);
    ServerSearch search =
        new ServerSearch(served == null ? placement.host() : served.host(), placement.port());
    FrameConnection connection;
    try {
      connection = Introduction.of(placement, options, search, deadline);
    } catch (IOException e) {
      throw new RankTimeoutException(
          List.of(),
          "%s found nobody at %s within %s: %s; %s%s"
              .formatted(
                  name,
                  address,
                  Timeout.words(patience),
                  Reason.of(e),
                  placement.placedBy(),
                  names.remedy(rank)),
          e);
    }
    connection.startWriting();
    Bootstrap bootstrap =
        new Bootstrap(
            placement,
            names,
            patience,
            connection,
            () -> {
              connection.finish(Timeout.deadline(LAST_WORDS_WITHIN));
              if (served != null) {
                served.close();
              }
            });
    Thread.ofVirtual()
        .name("bootstrap-" + rank)
        .start(() -> bootstrap.readAll(connection, name, address));
    JoinedRanks ranks = bootstrap.current();
    try {
      // The server's own bound comes first if it began before: it says what is missing, and why.
      Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
      ranks.barrier(left.plus(SERVER_FIRST));
      return ranks;
    } catch (RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  /** As {@link Ranks#threads}. */
  static List<Ranks> threads(int size) {
    if (size < 1 || size > Frame.MAX_RANKS) {
      throw new IllegalArgumentException(
          "there can be 1 to %d ranks, not %d".formatted(Frame.MAX_RANKS, size));
    }
    RankNames names = RankNames.NUMBERS;
    BootstrapRun run = new BootstrapRun(size, names);
    List<Ranks> all = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      Placement placement = new Placement(rank, size, "localhost", Placement.USUAL_PORT, "threads");
      // Nothing is sent before the rank is in, and nothing is told before its bootstrap is there.
      Object[] parts = new Object[2];
      Bootstrap bootstrap =
          new Bootstrap(
              placement,
              names,
              THREADS_WITHIN,
              frame -> take(run, (Member) parts[0], frame),
              () -> {});
      parts[0] = run.join(rank, new Hello(size, Map.of()), bootstrap::receive);
      all.add(bootstrap.current());
    }
    return List.copyOf(all);
  }

  private static void take(BootstrapRun run, Member member, Frame frame) {
    try {
      run.take(member, frame);
    } catch (IllegalArgumentException e) {
      run.lost(member, Reason.of(e));
    }
  }

  RankNames names() {
    return names;
  }

  int localRank() {
    return localRank;
  }

  /** How long to wait for the server. */
  Duration patience() {
    return patience;
  }

  /** The calls to the store. */
  StoreCalls calls() {
    return calls;
  }

  /** Why there are no more ranks; null as long as there are. */
  @Nullable String serverLost() {
    return serverLost;
  }

  private synchronized JoinedRanks current() {
    return current;
  }

  void send(Frame frame) {
    out.send(frame);
  }

  /** Whether this rank has left. */
  synchronized boolean hasLeft() {
    return left;
  }

  /** Leaves with a last frame, unless it has left already. */
  void leave(Frame last) {
    synchronized (this) {
      if (left) {
        return;
      }
      left = true;
    }
    out.send(last);
    calls.endAll();
    FrameConnection.end(ending);
  }

  private void readAll(FrameConnection connection, String name, String address) {
    try {
      while (true) {
        receive(connection.read());
      }
    } catch (IOException | IllegalArgumentException e) {
      end("%s lost %s at %s: %s".formatted(name, names.server(), address, Reason.of(e)));
    } finally {
      connection.close();
    }
  }

  private void end(String words) {
    if (!hasLeft()) {
      serverLost = words;
    }
    current().lose(-1, words);
    // Also those of ranks that shrank without a loss.
    calls.endAll();
  }

  /** Takes what the server says, in its order, on one thread at a time. */
  private void receive(Frame frame) {
    JoinedRanks ranks = current();
    if (frame.type() == Frame.Type.STORED) {
      calls.take(StoreAnswer.decode(frame.payload()));
    } else if (frame.type() == Frame.Type.SHRUNK) {
      JoinedRanks rest = new JoinedRanks(this, frame.rank(), Frame.number(frame.payload()));
      synchronized (this) {
        current = rest;
      }
      ranks.goOn(rest);
    } else {
      ranks.receive(frame);
    }
  }
}
