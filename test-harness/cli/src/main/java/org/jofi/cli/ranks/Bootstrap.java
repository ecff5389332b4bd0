package org.jofi.cli.ranks;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A rank's connection to the {@link BootstrapServer}. One thread at a time, except for {@link
 * #failure}. Every wait has a time limit.
 */
public final class Bootstrap implements AutoCloseable {
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
   * Joins the run and waits for all other ranks.
   *
   * @param placement the number of this rank, and the server's address
   * @param secret the run's secret, or empty
   * @param parameters the options that must be the same for all ranks, by name
   * @param patience how long each step may take
   * @throws BootstrapException if there is no server, it refuses this rank, or another rank does
   *     not join
   */
  public static Bootstrap join(
      Placement placement, String secret, Map<String, String> parameters, Duration patience) {
    String server = placement.address();
    long deadline = System.nanoTime() + patience.toNanos();
    Socket socket;
    try {
      socket = new ServerSearch(placement.host(), placement.port()).find(deadline);
    } catch (IOException e) {
      throw new BootstrapException(nobody(placement, server, patience, e), e);
    }
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

  private static String nobody(
      Placement placement, String server, Duration patience, IOException reason) {
    String what =
        "found nobody at %s within %d s: %s; "
            .formatted(server, patience.toSeconds(), Reason.of(reason));
    if (placement.roles() == Roles.SIDES) {
      return Guide.RANKS.after(
          what
              + "start %s there first; check name, port and firewall; or raise --timeout"
                  .formatted(Roles.SIDES.name(1 - placement.rank())));
    }
    return Guide.RANKS.after(
        "%s %s%s placed it (%s); %s"
            .formatted(
                placement.name(placement.rank()),
                what,
                placement.origin(),
                placement.variables(),
                Roles.RANKS.remedy()));
  }

  /** The name of this rank. */
  public String name() {
    return placement.name(rank);
  }

  /** The name of a rank, seen from this one. */
  String name(int other) {
    return placement.name(other);
  }

  /** The server's address, for messages. */
  String server() {
    return server;
  }

  /** How the ranks are named. */
  public Roles roles() {
    return placement.roles();
  }

  /** The number of this rank. */
  public int rank() {
    return rank;
  }

  /** The number of ranks. */
  public int size() {
    return size;
  }

  /** Its number among the ranks of its machine if that is known, otherwise its rank. */
  public int localRank() {
    return placement.localRank();
  }

  /**
   * Sends a message to all ranks and waits for the messages of all: {@link #tell} and {@link
   * #told}.
   *
   * @throws BootstrapException if a rank is lost or does not call this in time
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
                  : "%s waited %d s for messages of the other ranks"
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
   * Sends a message to all ranks. All ranks have to call this equally often, and call {@link #told}
   * in between.
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
   * Takes the message of each rank, in the order of ranks. Never blocks.
   *
   * @return null if not all messages have arrived yet
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

  /** Waits until all ranks have called this. */
  public void barrier() {
    gather(new byte[0]);
  }

  /** A text that says which rank is lost; null as long as none is. */
  public @Nullable String failure() {
    return failure;
  }

  /**
   * Throws if a rank is lost.
   *
   * @throws BootstrapException if a rank is lost
   */
  public void check() {
    String words = failure;
    if (words != null) {
      throw new BootstrapException(words);
    }
  }

  /** Tells the other ranks that this rank failed, which ends them, too. */
  public void fail(String words) {
    leave(Frame.failed(rank, words));
  }

  /**
   * Tells the server that this rank is done, and ends the connection. A second call does nothing.
   */
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
      // Lets the server read everything first; closing the socket at once could reset the
      // connection.
      socket.shutdownOutput();
    } catch (IOException e) {
      // The server is gone, or it has closed because another rank failed.
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
