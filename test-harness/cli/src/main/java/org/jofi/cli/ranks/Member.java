package org.jofi.cli.ranks;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection of the server. A thread of its own writes to it, so that a rank that does not read
 * makes no other rank wait.
 */
final class Member {
  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final BlockingQueue<Frame> outgoing = new LinkedBlockingQueue<>();
  private @Nullable Thread writer;

  /** Guarded by the server; set when it joins. */
  int rank = -1;

  Hello hello = new Hello(0, "", Map.of());
  boolean isDone;

  /** Its message in the current gathering. */
  byte @Nullable [] part;

  Member(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    this.out = new DataOutputStream(socket.getOutputStream());
  }

  Frame read() throws IOException {
    return Frame.read(in);
  }

  /** Sends an answer to a connection that may not join. */
  void refuse(Frame frame) throws IOException {
    frame.write(out);
    socket.shutdownOutput();
  }

  /**
   * Waits until the peer has closed the connection, up to a time limit. If the server closed it
   * while data from the peer is unread, TCP would reset it, and the peer might never read the
   * answer.
   */
  void awaitGone(Duration within) {
    long deadline = System.nanoTime() + within.toNanos();
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
      BootstrapServer.end(socket);
    }
  }

  void startWriting() {
    writer = Thread.ofVirtual().name("bootstrap-write").start(this::write);
  }

  void send(Frame frame) {
    outgoing.add(frame);
  }

  /** Waits until everything is written, if the rank reads it before the deadline. */
  void finish(long deadline) {
    Thread thread = writer;
    if (thread == null) {
      return;
    }
    outgoing.add(Frame.of(Frame.Type.DONE, 0));
    try {
      thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write() {
    try {
      Frame frame = outgoing.take();
      // A server never sends DONE to a rank; here it only marks the end of the queue.
      while (frame.type() != Frame.Type.DONE) {
        frame.write(out);
        frame = outgoing.take();
      }
    } catch (IOException e) {
      // The thread that reads notices it as well, and reports it.
      BootstrapServer.end(socket);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
