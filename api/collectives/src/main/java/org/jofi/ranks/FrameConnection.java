package org.jofi.ranks;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * A connection between a rank and the server. A thread of its own writes to it, so that a peer that
 * does not read makes nobody wait. For one thread that reads; any may send.
 */
final class FrameConnection implements FrameSink, AutoCloseable {
  /** The end of what is to be written; never written itself. */
  private static final Frame END = Frame.of(Frame.Type.DONE, 0);

  /** A machine that is gone says nothing: the kernel asks it after 10 s, and 4 times in all. */
  private static final Map<SocketOption<Integer>, Integer> SILENCE =
      Map.of(
          ExtendedSocketOptions.TCP_KEEPIDLE, 10,
          ExtendedSocketOptions.TCP_KEEPINTERVAL, 5,
          ExtendedSocketOptions.TCP_KEEPCOUNT, 4);

  /** Most frames that wait to be written: more than a peer that reads ever has. */
  private static final int MOST_UNREAD = 4 * StoreTable.MOST_WAITING;

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final BlockingQueue<Frame> outgoing = new LinkedBlockingQueue<>();
  private @Nullable Thread writer;
  private volatile boolean unread;

  FrameConnection(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    socket.setKeepAlive(true);
    for (Map.Entry<SocketOption<Integer>, Integer> option : SILENCE.entrySet()) {
      if (socket.supportedOptions().contains(option.getKey())) {
        socket.setOption(option.getKey(), option.getValue());
      }
    }
    this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    this.out = new DataOutputStream(socket.getOutputStream());
  }

  /** Where it comes from, for messages. */
  String peer() {
    return String.valueOf(socket.getRemoteSocketAddress());
  }

  /** Bounds each read. */
  void readWithin(long millis) throws IOException {
    socket.setSoTimeout(Math.clamp(millis, 1, Integer.MAX_VALUE));
  }

  /** Reads may last as long as the connection. */
  void readWithoutBound() throws IOException {
    socket.setSoTimeout(0);
  }

  Frame read() throws IOException {
    try {
      return Frame.read(in);
    } catch (IOException e) {
      throw unread ? new IOException("it did not read what it was sent", e) : e;
    }
  }

  /** Reads a frame of a peer that has proven nothing yet. */
  Frame readUnproven() throws IOException {
    return Frame.read(in, Frame.MAX_UNPROVEN_BYTES);
  }

  /** Writes on this thread, before {@link #startWriting}. */
  void write(Frame frame) throws IOException {
    frame.write(out);
  }

  /** Sends an answer to a connection that may not join. */
  void refuse(Frame frame) throws IOException {
    frame.write(out);
    socket.shutdownOutput();
  }

  /**
   * Waits until the peer has closed the connection, up to a time limit. If this closed it while
   * data from the peer is unread, TCP would reset it, and the peer might never read the answer.
   */
  void awaitGone(Duration within) {
    long deadline = Timeout.deadline(within);
    byte[] unread = new byte[4096];
    try {
      long left = within.toMillis();
      while (left > 0) {
        socket.setSoTimeout((int) left);
        if (in.read(unread) < 0) {
          return;
        }
        left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      }
    } catch (IOException e) {
      // It had time to read the answer.
      close();
    }
  }

  void startWriting() {
    writer = Thread.ofVirtual().name("bootstrap-write").start(this::writeAll);
  }

  @Override
  public void send(Frame frame) {
    if (outgoing.size() < MOST_UNREAD) {
      outgoing.add(frame);
    } else {
      unread = true;
      close();
    }
  }

  /** Waits until everything is written; what the peer does not read by the deadline is lost. */
  void finish(long deadline) {
    Thread thread = writer;
    if (thread == null) {
      return;
    }
    outgoing.add(END);
    try {
      thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
      if (thread.isAlive()) {
        close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void writeAll() {
    try {
      Frame frame = outgoing.take();
      while (frame != END) {
        frame.write(out);
        frame = outgoing.take();
      }
      // The peer reads everything first; closing at once could reset the connection.
      socket.shutdownOutput();
    } catch (IOException e) {
      // The thread that reads notices it as well, and reports it.
      close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    end(socket);
  }

  /** Closes what is useless in any case; the peer notices that, too. */
  static void end(AutoCloseable connection) {
    try {
      connection.close();
    } catch (Exception e) {
      assert !(e instanceof RuntimeException) : e;
    }
  }
}
