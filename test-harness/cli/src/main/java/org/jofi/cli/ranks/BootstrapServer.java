package org.jofi.cli.ranks;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The server through which ranks find each other. It accepts each rank once, checks that all have
 * the same options, distributes their messages, and tells all ranks when one is lost. It has
 * virtual threads of its own; any thread may call its methods.
 *
 * <p>A connection that is not from a rank of this run gets an answer that says why, is counted, and
 * is closed.
 */
public final class BootstrapServer implements AutoCloseable {
  private static final int STRANGERS_AT_ONCE = 32;
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
  private final int size;
  private final String secret;
  private final Duration joinWithin;
  private final Watch watch;
  private final Roles roles;
  private final @Nullable Member[] members;
  private final List<Socket> open = new ArrayList<>();
  private int joined;
  private int done;
  private int gathered;
  private int refusing;
  private long refused;
  private boolean closed;
  private @Nullable Frame failure;

  private BootstrapServer(
      ServerSocket socket, int size, String secret, Duration joinWithin, Watch watch, Roles roles) {
    this.socket = socket;
    this.size = size;
    this.secret = secret;
    this.joinWithin = joinWithin;
    this.watch = watch;
    this.roles = roles;
    this.members = new @Nullable Member[size];
  }

  /** Starts a server for ranks. */
  public static BootstrapServer open(
      InetSocketAddress address, int size, String secret, Duration joinWithin, Watch watch) {
    return open(address, size, secret, joinWithin, watch, Roles.RANKS);
  }

  /**
   * Starts a server.
   *
   * @param address where to listen; port 0 for any free port
   * @param size number of ranks, 1 to 1024
   * @param secret the secret that ranks must know; empty for none
   * @param joinWithin how long it may take until all have joined
   * @param watch how the death of a rank is noticed
   * @param roles how the ranks are named
   * @throws BootstrapException if it cannot listen there
   */
  public static BootstrapServer open(
      InetSocketAddress address,
      int size,
      String secret,
      Duration joinWithin,
      Watch watch,
      Roles roles) {
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
      throw new BootstrapException(
          "cannot listen at port %d: %s; %s"
              .formatted(address.getPort(), e.getMessage(), roles.portRemedy()),
          e);
    }
    BootstrapServer server = new BootstrapServer(socket, size, secret, joinWithin, watch, roles);
    Thread.ofVirtual().name("bootstrap-accept").start(server::acceptAll);
    Thread.ofVirtual().name("bootstrap-clock").start(server::awaitAll);
    return server;
  }

  /** The port that it listens on. */
  public int port() {
    return socket.getLocalPort();
  }

  /** How many connections were not from a rank of this run. */
  public synchronized long refused() {
    return refused;
  }

  /**
   * Tells every rank that a rank is lost, unless one is lost already or this one has said that it
   * is done.
   */
  public synchronized void lost(int rank, String words) {
    Member member = members[rank];
    if (member == null || !member.isDone) {
      fail(rank, words);
    }
  }

  /**
   * Gives the ranks that have joined some time to say that they are done, then ends all
   * connections.
   */
  @Override
  public void close() {
    List<Socket> left;
    long deadline = System.nanoTime() + LAST_WORDS_WITHIN.toNanos();
    synchronized (this) {
      while (done < joined && failure == null && waitUntil(deadline)) {
        // The loop's condition does everything.
      }
      while (refusing > 0 && waitUntil(deadline)) {
        // Lets connections that are being refused receive the whole answer.
      }
      closed = true;
      left = List.copyOf(open);
      notifyAll();
    }
    end(socket);
    for (@Nullable Member member : members) {
      if (member != null) {
        member.finish(deadline);
      }
    }
    left.forEach(BootstrapServer::end);
  }

  private void acceptAll() {
    while (true) {
      Socket connection;
      try {
        connection = socket.accept();
      } catch (IOException e) {
        takesNoMore(e);
        return;
      }
      synchronized (this) {
        if (closed || open.size() >= size + STRANGERS_AT_ONCE) {
          refused++;
          end(connection);
          continue;
        }
        open.add(connection);
      }
      Thread.ofVirtual().name("bootstrap-rank").start(() -> serve(connection));
    }
  }

  /** The socket is closed, or this process may not open more files. */
  private synchronized void takesNoMore(IOException reason) {
    if (!closed && joined < size) {
      fail(
          firstMissing(),
          "the bootstrap server takes no more connections: %s; see ulimit -n, of which each rank and each peer over sockets takes some"
              .formatted(Reason.of(reason)));
    }
  }

  private synchronized void awaitAll() {
    long deadline = System.nanoTime() + joinWithin.toNanos();
    while (joined < size && !closed && failure == null) {
      if (!waitUntil(deadline)) {
        StringJoiner missing = new StringJoiner(", ");
        for (int rank = 0; rank < size; rank++) {
          if (members[rank] == null) {
            missing.add(Integer.toString(rank));
          }
        }
        fail(
            firstMissing(),
            size == 2
                ? "it did not come within %d s: %s"
                    .formatted(joinWithin.toSeconds(), roles.remedy())
                : "of %d ranks, these did not come within %d s: %s"
                    .formatted(size, joinWithin.toSeconds(), missing));
      }
    }
  }

  private int firstMissing() {
    return Math.max(0, Arrays.asList(members).indexOf(null));
  }

  private void serve(Socket connection) {
    Member member = null;
    try {
      connection.setTcpNoDelay(true);
      connection.setKeepAlive(true);
      connection.setSoTimeout((int) Math.max(1, Math.min(10_000, joinWithin.toMillis())));
      Member guest = new Member(connection);
      if (!admit(guest, guest.read())) {
        return;
      }
      member = guest;
      connection.setSoTimeout(0);
      while (handle(member, member.read())) {
        // handle() returns false for the last frame.
      }
    } catch (IOException | IllegalArgumentException e) {
      gone(member, e);
    } finally {
      end(connection);
      synchronized (this) {
        open.remove(connection);
      }
    }
  }

  private boolean admit(Member guest, Frame frame) throws IOException {
    String refusal;
    synchronized (this) {
      refusal = join(guest, frame);
      if (refusal == null) {
        return true;
      }
      refused++;
      refusing++;
    }
    try {
      guest.refuse(Frame.failed(frame.rank(), refusal));
      guest.awaitGone(LAST_WORDS_WITHIN);
    } finally {
      synchronized (this) {
        refusing--;
        notifyAll();
      }
    }
    return false;
  }

  /** Accepts a rank; returns the reason if it cannot join. */
  private @Nullable String join(Member guest, Frame frame) {
    if (frame.type() != Frame.Type.HELLO) {
      return "the first message of a rank must introduce it";
    }
    Hello hello = Hello.decode(frame.payload());
    if (!hello.secret().equals(secret)) {
      return "not a rank of this run: it does not know the secret";
    }
    Frame broken = failure;
    if (broken != null) {
      return broken.words();
    }
    for (int rank = 0; rank < size; rank++) {
      Member other = members[rank];
      if (other != null) {
        String differences =
            other.hello.differences(roles.name(rank), hello, roles.name(frame.rank()));
        if (!differences.isEmpty()) {
          String words =
              (roles == Roles.RANKS ? "the ranks" : "the two sides")
                  + " were not started alike: "
                  + differences;
          fail(frame.rank(), words);
          return words;
        }
        break;
      }
    }
    if (hello.size() != size || frame.rank() >= size) {
      return "rank %d of %d cannot join a run of %d".formatted(frame.rank(), hello.size(), size);
    }
    if (members[frame.rank()] != null) {
      return "there is a rank %d already".formatted(frame.rank());
    }
    guest.rank = frame.rank();
    guest.hello = hello;
    members[guest.rank] = guest;
    joined++;
    guest.startWriting();
    notifyAll();
    return null;
  }

  /** Handles a frame; returns whether more frames may follow. */
  private synchronized boolean handle(Member member, Frame frame) {
    switch (frame.type()) {
      case PART -> {
        if (member.part != null) {
          throw new IllegalArgumentException("it sent two messages in one gathering");
        }
        member.part = frame.payload();
        if (++gathered == size) {
          giveAll();
        }
      }
      case FAILED -> {
        end(member);
        fail(member.rank, frame.words());
      }
      case DONE -> end(member);
      case HELLO, ALL -> throw new IllegalArgumentException("unexpected " + frame.type());
    }
    failIfNeverAll();
    return !member.isDone;
  }

  private void end(Member member) {
    member.isDone = true;
    done++;
    notifyAll();
  }

  private void failIfNeverAll() {
    if (gathered > 0) {
      for (@Nullable Member member : members) {
        if (member != null && member.isDone) {
          fail(member.rank, "it ended while others still wait for it");
        }
      }
    }
  }

  private void giveAll() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (@Nullable Member member : members) {
      byte[] part = Objects.requireNonNull(Objects.requireNonNull(member).part);
      member.part = null;
      all.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).array());
      all.writeBytes(part);
    }
    gathered = 0;
    broadcast(new Frame(Frame.Type.ALL, 0, all.toByteArray()));
  }

  private synchronized void gone(@Nullable Member member, Exception reason) {
    if (member == null) {
      refused++;
    } else if (!member.isDone && !closed && watch == Watch.CONNECTIONS) {
      fail(
          member.rank,
          reason instanceof EOFException
              ? "its connection ended"
              : "its connection ended: " + Reason.of(reason));
    }
  }

  private void fail(int rank, String words) {
    if (failure == null) {
      Frame frame = Frame.failed(rank, words);
      failure = frame;
      broadcast(frame);
      notifyAll();
    }
  }

  private void broadcast(Frame frame) {
    for (@Nullable Member member : members) {
      if (member != null) {
        member.send(frame);
      }
    }
  }

  /** Waits for a change; returns false after the deadline. */
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

  static void end(AutoCloseable connection) {
    try {
      connection.close();
    } catch (Exception e) {
      // The connection is useless in any case, and the peer notices that, too.
      assert !(e instanceof RuntimeException) : e;
    }
  }
}
