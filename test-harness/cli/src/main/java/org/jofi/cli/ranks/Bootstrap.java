package org.jofi.cli.ranks;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A rank's connection to the {@link BootstrapServer}. One thread at a time, except for {@link
 * #failure}. Every wait has a bound.
 */
public final class Bootstrap implements AutoCloseable {
  private static final long RETRY_NANOS = 50_000_000;

  private final Socket socket;
  private final DataOutputStream out;
  private final String server;
  private final Placement placement;
  private final int rank;
  private final int size;
  private final Duration patience;
  private @Nullable List<byte[]> gathered;
  private boolean closing;
  private volatile @Nullable String failure;

  private Bootstrap(
      Socket socket, String server, Placement placement, DataOutputStream out, Duration patience) {
    this.socket = socket;
    this.server = server;
    this.placement = placement;
    this.rank = placement.rank();
    this.size = placement.size();
    this.out = out;
    this.patience = patience;
  }

  /**
   * Joins, and waits for all others.
   *
   * @param placement which rank, and where the server is
   * @param secret of the run, or empty
   * @param parameters what all ranks must have been started with alike, by the name of the option
   * @param patience how long every step of it may take
   * @throws BootstrapException if there is no server, it refuses, or a rank does not come
   */
  public static Bootstrap join(
      Placement placement, String secret, Map<String, String> parameters, Duration patience) {
    String server = placement.address();
    long deadline = System.nanoTime() + patience.toNanos();
    Socket socket = connect(placement, server, deadline, patience);
    try {
      socket.setTcpNoDelay(true);
      socket.setKeepAlive(true);
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      Bootstrap bootstrap = new Bootstrap(socket, server, placement, out, patience);
      Hello hello = new Hello(placement.size(), secret, parameters);
      new Frame(Frame.Type.HELLO, placement.rank(), hello.encode()).write(out);
      Thread.ofVirtual().name("bootstrap-" + placement.rank()).start(() -> bootstrap.readAll(in));
      bootstrap.barrier();
      return bootstrap;
    } catch (IOException e) {
      BootstrapServer.end(socket);
      throw new BootstrapException(
          "%s cannot talk to %s: %s"
              .formatted(placement.name(placement.rank()), server, Reason.of(e)),
          e);
    } catch (RuntimeException e) {
      BootstrapServer.end(socket);
      throw e;
    }
  }

  private static Socket connect(
      Placement placement, String server, long deadline, Duration patience) {
    while (true) {
      Socket socket = new Socket();
      IOException reason;
      try {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        socket.connect(
            new InetSocketAddress(placement.host(), placement.port()), (int) Math.max(1, left));
        return socket;
      } catch (IOException e) {
        // Whom it looks for may start later.
        reason = e;
        BootstrapServer.end(socket);
      }
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        throw new BootstrapException(nobody(placement, server, patience, reason), reason);
      }
      LockSupport.parkNanos(RETRY_NANOS);
    }
  }

  private static String nobody(
      Placement placement, String server, Duration patience, IOException reason) {
    String what =
        "found nobody at %s within %d s: %s; "
            .formatted(server, patience.toSeconds(), Reason.of(reason));
    if (placement.roles() == Roles.SIDES) {
      return what
          + "start %s there first; check name, port and firewall; or raise --timeout"
              .formatted(Roles.SIDES.name(1 - placement.rank()));
    }
    return "%s %s%s placed it (%s); %s"
        .formatted(
            placement.name(placement.rank()),
            what,
            placement.origin(),
            placement.variables(),
            Roles.RANKS.remedy());
  }

  /** What this rank is called. */
  public String name() {
    return placement.name(rank);
  }

  /** What the ranks are called. */
  public Roles roles() {
    return placement.roles();
  }

  /** Which rank this is. */
  public int rank() {
    return rank;
  }

  /** How many there are. */
  public int size() {
    return size;
  }

  /** Its number among the ranks of its machine, as far as that is known; its rank otherwise. */
  public int localRank() {
    return placement.localRank();
  }

  /**
   * Tells all ranks something, and waits for what each tells: {@link #tell} and {@link #told}.
   *
   * @throws BootstrapException if a rank is lost, or does not call it in time
   */
  public List<byte[]> gather(byte[] mine) {
    tell(mine);
    long deadline = System.nanoTime() + patience.toNanos();
    synchronized (this) {
      while (true) {
        List<byte[]> all = told();
        if (all != null) {
          return all;
        }
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          throw new BootstrapException(
              placement.roles() == Roles.SIDES
                  ? "%s said nothing for %d s; %s"
                      .formatted(
                          placement.name(1 - rank), patience.toSeconds(), Roles.SIDES.remedy())
                  : "%s waited %d s for what the other ranks tell"
                      .formatted(name(), patience.toSeconds()));
        }
        try {
          TimeUnit.NANOSECONDS.timedWait(this, left);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new BootstrapException(name() + " was interrupted", e);
        }
      }
    }
  }

  /**
   * Tells all ranks something. All ranks do so equally often, and take what was told in between.
   *
   * @throws BootstrapException if a rank is lost
   */
  public void tell(byte[] mine) {
    if (mine.length > Frame.MAX_PAYLOAD_BYTES / size - 4) {
      throw new IllegalArgumentException(
          "%d bytes of each of %d ranks are too many".formatted(mine.length, size));
    }
    send(new Frame(Frame.Type.PART, rank, mine));
  }

  /**
   * Takes what each rank told, in their order. Never blocks.
   *
   * @return null if not all have yet
   * @throws BootstrapException if a rank is lost
   */
  public synchronized @Nullable List<byte[]> told() {
    List<byte[]> all = gathered;
    if (all == null) {
      check();
    }
    gathered = null;
    return all;
  }

  /** Waits until all ranks are here. */
  public void barrier() {
    gather(new byte[0]);
  }

  /** That a rank is lost, and which, in words; null as long as none is. */
  public @Nullable String failure() {
    return failure;
  }

  /**
   * Goes on only if no rank is lost.
   *
   * @throws BootstrapException otherwise
   */
  public void check() {
    String words = failure;
    if (words != null) {
      throw new BootstrapException(words);
    }
  }

  /** Tells the others that this rank failed, which ends them too. */
  public void fail(String words) {
    leave(Frame.failed(rank, words));
  }

  /** Tells the server that this rank is done, and ends the connection. Again is a no-op. */
  @Override
  public void close() {
    leave(Frame.of(Frame.Type.DONE, rank));
  }

  private void leave(Frame last) {
    synchronized (this) {
      if (closing) {
        return;
      }
      closing = true;
    }
    try {
      last.write(out);
      // Read to its end by the server before anything that it still sends could break it off.
      socket.shutdownOutput();
    } catch (IOException e) {
      // The server is gone, or was told of another's failure before and closed.
      BootstrapServer.end(socket);
    }
  }

  private void send(Frame frame) {
    try {
      frame.write(out);
    } catch (IOException e) {
      check();
      throw new BootstrapException("%s lost %s: %s".formatted(name(), server, Reason.of(e)), e);
    }
  }

  private void readAll(DataInputStream in) {
    try {
      while (true) {
        Frame frame = Frame.read(in);
        switch (frame.type()) {
          case ALL -> give(split(frame.payload()));
          case FAILED -> {
            end("%s failed: %s".formatted(placement.name(frame.rank()), frame.words()));
            return;
          }
          case HELLO, PART, DONE -> throw new IOException("unexpected " + frame.type());
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      end(
          placement.roles() == Roles.SIDES
              ? "%s at %s is gone: %s".formatted(placement.name(1 - rank), server, Reason.of(e))
              : "%s lost the bootstrap server at %s: %s".formatted(name(), server, Reason.of(e)));
    } finally {
      BootstrapServer.end(socket);
    }
  }

  private List<byte[]> split(byte[] payload) {
    ByteBuffer in = ByteBuffer.wrap(payload);
    List<byte[]> all = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      int length = in.remaining() < 4 ? -1 : in.getInt();
      if (length < 0 || length > in.remaining()) {
        throw new IllegalArgumentException("what %d ranks told ends early".formatted(size));
      }
      byte[] part = new byte[length];
      in.get(part);
      all.add(part);
    }
    return all;
  }

  private synchronized void give(List<byte[]> all) {
    gathered = all;
    notifyAll();
  }

  private synchronized void end(String words) {
    if (!closing && failure == null) {
      failure = words;
    }
    notifyAll();
  }
}
