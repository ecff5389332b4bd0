package org.jofi.benchmarks;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.Grouping;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/**
 * What {@code src/main/c/write_twin.c} moves, through communicators: messages with tags that meet
 * their receives by rendezvous.
 *
 * <pre>
 * server|client PROVIDER PORT BYTES WINDOW RAILS
 * </pre>
 *
 * Window 1: ping-pong; the client prints half round trips in ns. Above 1: the client streams blocks
 * of messages, that many in flight, each block answered once; it prints bytes per microsecond.
 */
public final class TransportTwin {
  private static final int TAG = 7;
  private static final int PING_BLOCKS = 500;
  private static final int PING_WARM = 5000;
  private static final int PING_BLOCK = 200;
  private static final int STREAM_BLOCKS = 100;

  // Of 2 processors two poll all the time: the compiler takes a second or two to catch up.
  private static final int STREAM_WARM = 400;
  private static final long LARGE_BYTES = 300_000;

  private final boolean server;
  private final long bytes;
  private final int window;
  private final SendComm out;
  private final RecvComm in;
  private final Registration outMemory;
  private final Registration inMemory;
  private final long[] sends;
  private final long[] receives;
  private long sent;
  private long sentDone;
  private long posted;
  private long taken;

  private TransportTwin(
      boolean server, long bytes, int window, SendComm out, RecvComm in, Arena arena) {
    this.server = server;
    this.bytes = bytes;
    this.window = window;
    this.out = out;
    this.in = in;
    outMemory = out.register(memory(arena), Use.SEND);
    inMemory = in.register(memory(arena), Use.RECEIVE);
    sends = new long[window];
    receives = new long[Math.max(2, window)];
  }

  private MemorySegment memory(Arena arena) {
    return arena.allocate(bytes * Math.max(2, window), 4096).fill((byte) 1);
  }

  /**
   * Runs one side.
   *
   * @param arguments see above
   */
  public static void main(String[] arguments) throws IOException {
    boolean server = arguments[0].equals("server");
    String provider = arguments[1];
    int rails = Integer.parseInt(arguments[5]);
    String nic = provider.equals("shm") ? "shm" : "lo";
    TransportOptions options =
        TransportOptions.builder()
            .provider(provider)
            .grouping(new Grouping.Explicit(List.of(Collections.nCopies(rails, nic))))
            .build();
    try (Arena arena = Arena.ofShared();
        Transport transport = Transport.open(options)) {
      Device device = transport.devices().getFirst();
      try (ListenComm listener = device.listen();
          Socket socket = LoopbackSockets.open(server, Integer.parseInt(arguments[2]));
          ConnectAttempt attempt = device.connect(exchange(socket, listener.handle()))) {
        SendComm out = null;
        RecvComm in = null;
        while (out == null || in == null) {
          out = attempt.poll();
          in = in == null ? listener.accept() : in;
        }
        TransportTwin twin =
            new TransportTwin(
                server,
                Long.parseLong(arguments[3]),
                Integer.parseInt(arguments[4]),
                out,
                in,
                arena);
        twin.run();
        socket.getOutputStream().write(0);
        int peerIsDone = socket.getInputStream().read();
        assert peerIsDone == 0;
      }
    }
  }

  private static ConnectHandle exchange(Socket socket, ConnectHandle mine) throws IOException {
    DataOutputStream toPeer = new DataOutputStream(socket.getOutputStream());
    byte[] encoded = mine.encode();
    toPeer.writeInt(encoded.length);
    toPeer.write(encoded);
    DataInputStream fromPeer = new DataInputStream(socket.getInputStream());
    return ConnectHandle.decode(fromPeer.readNBytes(fromPeer.readInt()));
  }

  private void run() {
    if (window == 1) {
      measure(PING_WARM, PING_BLOCKS, PING_BLOCK);
    } else {
      measure(STREAM_WARM, STREAM_BLOCKS, bytes > LARGE_BYTES ? 64 : 512);
    }
  }

  private void measure(int warm, int blocks, int block) {
    double[] figures = new double[blocks];
    for (int i = 0; i < warm + blocks; i++) {
      long start = System.nanoTime();
      if (window == 1) {
        pingPong(block);
      } else {
        stream(block);
      }
      if (i >= warm) {
        double nanos = System.nanoTime() - start;
        figures[i - warm] =
            window == 1 ? nanos / block / 2 : (double) bytes * block / (nanos / 1e3);
      }
    }
    if (!server) {
      for (double figure : figures) {
        System.out.printf(Locale.ROOT, "%.2f%n", figure);
      }
    }
  }

  /** The next receive is always posted; the one after it is while the message is on its way. */
  private void pingPong(int count) {
    post(2);
    for (int i = 0; i < count; i++) {
      if (server) {
        take();
      }
      send();
      post(2);
      awaitSends(0);
      if (!server) {
        take();
      }
    }
  }

  private void stream(int count) {
    if (server) {
      for (int i = 0; i < count; i++) {
        post(window);
        take();
      }
      send();
      awaitSends(0);
    } else {
      post(1);
      for (int i = 0; i < count; i++) {
        awaitSends(window - 1);
        send();
      }
      awaitSends(0);
      take();
    }
  }

  /** Keeps so many receives posted. */
  private void post(int wanted) {
    while (posted - taken < wanted) {
      int slot = (int) (posted % receives.length);
      long request = in.irecv(inMemory, slot * bytes, bytes, TAG);
      if (request == Result.TRY_AGAIN) {
        in.progress();
      } else {
        receives[slot] = request;
        posted++;
      }
    }
  }

  private void take() {
    check(in, receives[(int) (taken % receives.length)]);
    taken++;
  }

  private void send() {
    int slot = (int) (sent % window);
    long request;
    do {
      request = out.isend(outMemory, slot * bytes, bytes, TAG);
    } while (request == Result.TRY_AGAIN);
    sends[slot] = request;
    sent++;
  }

  private void awaitSends(long left) {
    while (sent - sentDone > left) {
      check(out, sends[(int) (sentDone % window)]);
      sentDone++;
    }
  }

  private void check(Comm comm, long request) {
    long result;
    do {
      result = comm.test(request);
    } while (result == Result.IN_PROGRESS);
    if (result != bytes) {
      throw new IllegalStateException(
          "%s: %s %s".formatted(comm, Result.describe(result), comm.failure(request)));
    }
  }
}
