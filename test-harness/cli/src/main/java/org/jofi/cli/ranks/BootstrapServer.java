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
 * Where ranks meet: it takes each once, checks that all were started alike, gives each what all
 * tell, and tells all when one is lost. Its threads are virtual and its own; every method may be
 * called from any thread.
 *
 * <p>What arrives that is no rank of this run is answered why, counted and forgotten.
 */
public final class BootstrapServer implements AutoCloseable {
  private static final int STRANGERS_AT_ONCE = 32;
  private static final Duration LAST_WORDS_WITHIN = Duration.ofSeconds(5);

  /** Who notices that a rank died. */
  public enum Watch {
    /** The server: its connection ends, and it had not said that it is done. */
    CONNECTIONS,
    /** Somebody who knows more, and calls {@link #lost}. */
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

  /** Starts to serve ranks that are called so. */
  public static BootstrapServer open(
      InetSocketAddress address, int size, String secret, Duration joinWithin, Watch watch) {
    return open(address, size, secret, joinWithin, watch, Roles.RANKS);
  }

  /**
   * Starts to serve.
   *
   * @param address where; port 0 for any that is free
   * @param size how many ranks will come, 1 to 1024
   * @param secret what they must know; empty for nothing
   * @param joinWithin how long it may take all of them
   * @param watch who notices that one died
   * @param roles what the ranks are called
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

  /** The port that it listens at. */
  public int port() {
    return socket.getLocalPort();
  }

  /** How many connections were none of a rank of this run. */
  public synchronized long refused() {
    return refused;
  }

  /** Tells every rank that this one is lost, unless one is already or it had said it is done. */
  public synchronized void lost(int rank, String words) {
    Member member = members[rank];
    if (member == null || !member.isDone) {
      fail(rank, words);
    }
  }

  /** Gives those that came some time to say that they are done, and ends all connections. */
  @Override
  public void close() {
    List<Socket> left;
    long deadline = System.nanoTime() + LAST_WORDS_WITHIN.toNanos();
    synchronized (this) {
      while (done < joined && failure == null && waitUntil(deadline)) {
        // The condition says it all.
      }
      while (refusing > 0 && waitUntil(deadline)) {
        // Who is being told why it cannot join hears all of it.
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
        // Closed; or this process has no descriptors left, of which those who come hear nothing.
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
        // Until its last frame.
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

  /** Takes a rank in, or tells why not. */
  private @Nullable String join(Member guest, Frame frame) {
    if (frame.type() != Frame.Type.HELLO) {
      return "a rank introduces itself first";
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

  /** Whether more is to come from it. */
  private synchronized boolean handle(Member member, Frame frame) {
    switch (frame.type()) {
      case PART -> {
        if (member.part != null) {
          throw new IllegalArgumentException("it tells twice in one gathering");
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

  /** Waits for a change; false once the deadline passed. */
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
      // It is of no more use either way, and its other side notices the same.
      assert !(e instanceof RuntimeException) : e;
    }
  }
}
