package org.jofi.ranks;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * The server through which ranks find each other, for programs that start ranks themselves: {@link
 * Ranks#join} opens one by itself in the first rank. It lets each rank in once, checks that all
 * have the same parameters, passes on their messages, and tells all ranks when one is lost. It has
 * virtual threads of its own; any thread may call its methods.
 *
 * <p>A connection that is not from a rank of this run gets an answer that says why, is counted, and
 * is closed; the ranks do not wait for it.
 */
public final class RankServer implements AutoCloseable {
  private static final Log LOG = new Log(Log.Name.RANKS);
  private static final int STRANGERS_AT_ONCE = 32;
  private static final long HELLO_WITHIN_MILLIS = 10_000;
  private static final Duration LAST_WORDS_WITHIN = Duration.ofSeconds(5);

  /** How the death of a rank is noticed. */
  public enum Watch {
    /**
     * The server notices that the rank's connection ended although the rank had not said that it is
     * done.
     */
    CONNECTIONS,
    /** The code that started the rank's process notices, and calls {@link #lost}. */
    PROCESSES
  }

  private final ServerSocket socket;
  private final BootstrapRun run;
  private final SharedSecret secret;
  private final Duration joinWithin;
  private final Watch watch;
  private final List<FrameConnection> open = new ArrayList<>();
  private int answering;
  private long refused;
  private boolean closed;

  private RankServer(
      ServerSocket socket,
      BootstrapRun run,
      SharedSecret secret,
      Duration joinWithin,
      Watch watch) {
    this.socket = socket;
    this.run = run;
    this.secret = secret;
    this.joinWithin = joinWithin;
    this.watch = watch;
  }

  /**
   * Starts a server.
   *
   * @param address where to listen; port 0 for any free port
   * @param size number of ranks, 1 to 1,024
   * @param options its secret, which ranks have to know, and names of ranks
   * @param joinWithin how long it may take until all have joined
   * @param watch how the death of a rank is noticed
   * @return the server, which listens
   * @throws RanksException if it cannot listen there
   * @throws IllegalArgumentException if there cannot be so many ranks
   */
  public static RankServer open(
      InetSocketAddress address, int size, JoinOptions options, Duration joinWithin, Watch watch) {
    if (size < 1 || size > Frame.MAX_RANKS) {
      throw new IllegalArgumentException(
          "1 to %d ranks can meet, not %d".formatted(Frame.MAX_RANKS, size));
    }
    ServerSocket socket;
    try {
      socket = new ServerSocket();
      socket.setReuseAddress(true);
      socket.bind(address, size + STRANGERS_AT_ONCE);
    } catch (IOException e) {
      throw new RanksException(
          "cannot listen at port %d: %s; %s"
              .formatted(address.getPort(), e.getMessage(), options.names().portRemedy()),
          e);
    }
    BootstrapRun run = new BootstrapRun(size, options.names());
    RankServer server =
        new RankServer(socket, run, new SharedSecret(options.secret()), joinWithin, watch);
    Thread.ofVirtual().name("bootstrap-accept").start(server::acceptAll);
    Thread.ofVirtual().name("bootstrap-clock").start(() -> run.awaitAll(Timeout.nanos(joinWithin)));
    return server;
  }

  /** {@return the port that it listens on} */
  public int port() {
    return socket.getLocalPort();
  }

  /** Where ranks of this process find it. */
  String host() {
    InetAddress address = socket.getInetAddress();
    return (address.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : address)
        .getHostAddress();
  }

  /** {@return how many connections were not from a rank of this run} */
  public synchronized long refused() {
    return refused;
  }

  /**
   * Tells every rank that a rank is lost, unless one is lost already or this one has said that it
   * is done.
   *
   * @param rank the number that it joined with
   * @param words how it ended, to follow its name
   * @throws IndexOutOfBoundsException if there is no such number
   */
  public void lost(int rank, String words) {
    run.lost(Objects.checkIndex(rank, run.size()), words);
  }

  /**
   * Gives the ranks that have joined some time to say that they are done, 5 s at most, then ends
   * all connections.
   */
  @Override
  public void close() {
    long deadline = Timeout.deadline(LAST_WORDS_WITHIN);
    run.close(deadline);
    List<FrameConnection> left;
    synchronized (this) {
      while (answering > 0 && waitUntil(deadline)) {
        // Lets connections that are being refused receive the whole answer.
      }
      closed = true;
      left = List.copyOf(open);
    }
    FrameConnection.end(socket);
    left.forEach(connection -> connection.finish(deadline));
    left.forEach(FrameConnection::close);
  }

  private boolean waitUntil(long deadline) {
    long left = deadline - System.nanoTime();
    if (left <= 0) {
      return false;
    }
    try {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void acceptAll() {
    while (true) {
      Socket accepted;
      try {
        accepted = socket.accept();
      } catch (IOException e) {
        // The socket is closed, or this process may not open more files.
        run.cannotJoin(
            "the bootstrap server takes no more connections: %s; see ulimit -n, of which each rank and each peer over sockets takes some"
                .formatted(Reason.of(e)));
        return;
      }
      FrameConnection connection;
      synchronized (this) {
        try {
          if (closed || open.size() >= run.size() + STRANGERS_AT_ONCE) {
            throw new IOException("too many at once");
          }
          connection = new FrameConnection(accepted);
        } catch (IOException e) {
          refused++;
          FrameConnection.end(accepted);
          continue;
        }
        open.add(connection);
      }
      Thread.ofVirtual().name("bootstrap-rank").start(() -> serve(connection));
    }
  }

  private void serve(FrameConnection connection) {
    Member member = null;
    try {
      connection.readWithin(
          Math.min(HELLO_WITHIN_MILLIS, TimeUnit.NANOSECONDS.toMillis(Timeout.nanos(joinWithin))));
      member = admit(connection);
      if (member == null) {
        return;
      }
      connection.readWithoutBound();
      while (run.take(member, connection.read())) {
        // take() returns false for the last frame.
      }
    } catch (IOException | IllegalArgumentException e) {
      gone(connection, member, e);
    } finally {
      connection.close();
      synchronized (this) {
        open.remove(connection);
      }
    }
  }

  private @Nullable Member admit(FrameConnection connection) throws IOException {
    byte[] challenge = SharedSecret.random();
    connection.write(new Frame(Frame.Type.CHALLENGE, 0, challenge));
    Frame hello = null;
    String unread = "";
    try {
      hello = connection.readUnproven();
    } catch (Frame.VersionException e) {
      unread = Reason.of(e);
    }
    // A refusal may end the run, and then a rank of this process closes the server.
    synchronized (this) {
      answering++;
    }
    try {
      // One of another version has no number here.
      Object answer = hello == null ? Frame.failed(0, unread) : join(connection, challenge, hello);
      if (answer instanceof Member member) {
        connection.startWriting();
        return member;
      }
      refuse(connection, (Frame) answer);
      return null;
    } finally {
      synchronized (this) {
        answering--;
        notifyAll();
      }
    }
  }

  private void refuse(FrameConnection connection, Frame refusal) throws IOException {
    synchronized (this) {
      refused++;
    }
    LOG.log(
        System.Logger.Level.INFO,
        "the server at port %d refused %s: %s"
            .formatted(port(), connection.peer(), refusal.words()));
    connection.refuse(refusal);
    connection.awaitGone(LAST_WORDS_WITHIN);
  }

  /** Lets a rank in, or gives the frame that says why it cannot join. */
  private Object join(FrameConnection connection, byte[] challenge, Frame frame) {
    int rank = frame.rank();
    if (frame.type() != Frame.Type.HELLO) {
      return Frame.failed(rank, "the first message of a rank must introduce it");
    }
    byte[] introduction = frame.payload();
    if (!secret.proves(challenge, rank, introduction)) {
      return Frame.failed(
          rank,
          secret.isEmpty()
              ? "not a rank of this run: it has a secret, and the server has none"
              : "not a rank of this run: it does not know the secret");
    }
    Hello hello = SharedSecret.hello(introduction);
    // The first to be written once it is in, whatever it is told from then on.
    byte[] proof = secret.welcome(challenge, rank, introduction);
    connection.send(new Frame(Frame.Type.WELCOME, rank, proof));
    return run.join(rank, hello, connection);
  }

  private void gone(FrameConnection connection, @Nullable Member member, Exception reason) {
    if (member == null) {
      LOG.log(
          System.Logger.Level.DEBUG,
          "the server at port %d got nothing of a rank from %s: %s"
              .formatted(port(), connection.peer(), Reason.of(reason)));
      synchronized (this) {
        refused++;
      }
    } else if (watch == Watch.CONNECTIONS) {
      run.lost(
          member,
          reason instanceof EOFException
              ? "its connection ended"
              : "its connection ended: " + Reason.of(reason));
    }
  }
}
