package org.jofi.benchmarks;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.Locale;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;

/**
 * What {@code src/main/c/fabric_twin.c} does, through the fabric SPI: the same objects, calls and
 * protocol.
 *
 * <pre>
 * poll PROVIDER                  ns of an empty poll, one line a trial
 * server|client PROVIDER PORT    8-byte ping-pong; the client prints half round trips in ns
 * </pre>
 */
public final class FabricTwin {
  private static final int BATCH = 16;
  private static final int BYTES = 8;
  private static final int BLOCK = 200;
  private static final int WARM_BLOCKS = 200;
  private static final int BLOCKS = 500;
  private static final int TRIALS = 9;
  private static final long POLLS = 2_000_000;
  private static final int SEND = 0;
  private static final int RECV = 1;

  private final LoopbackNic nic;
  private final Arrivals arrivals = new Arrivals();
  private final long out;
  private final long in;
  private long peer;

  /** Counts, as the twin does. */
  private static final class Arrivals implements CompletionQueue.Sink {
    private int sent;
    private int received;

    @Override
    public void completed(int context, long flags, long lengthBytes, long data) {
      if (context == RECV) {
        received++;
      } else {
        sent++;
      }
    }

    @Override
    public void failed(CompletionError error) {
      throw error.toException();
    }
  }

  private FabricTwin(LoopbackNic nic) {
    this.nic = nic;
    out = nic.memory().address();
    in = out + 4096;
  }

  /**
   * Runs one side.
   *
   * @param arguments see above
   */
  public static void main(String[] arguments) throws IOException {
    try (LoopbackNic nic = new LoopbackNic(arguments[1])) {
      FabricTwin twin = new FabricTwin(nic);
      if (arguments[0].equals("poll")) {
        twin.measurePoll();
        return;
      }
      boolean server = arguments[0].equals("server");
      twin.exchange(server, Integer.parseInt(arguments[2]));
      if (server) {
        twin.postRecv();
      }
      twin.pingPong(server);
      if (server) {
        // The last answer may still be under way.
        long end = System.nanoTime() + 200_000_000;
        while (System.nanoTime() < end) {
          twin.poll();
        }
      }
    }
  }

  private void poll() {
    int code = nic.queue().poll(arrivals, BATCH);
    if (code < 0) {
      throw new IllegalStateException("poll returned -" + FabricErrno.name(-code));
    }
  }

  private void measurePoll() {
    for (int trial = 0; trial < TRIALS; trial++) {
      long start = System.nanoTime();
      pollMany();
      System.out.printf(Locale.ROOT, "%.2f%n", (System.nanoTime() - start) / (double) POLLS);
    }
  }

  private void pollMany() {
    for (long i = 0; i < POLLS; i++) {
      poll();
    }
  }

  /** Addresses go by a socket of loopback: four bytes of length, then the address. */
  private void exchange(boolean server, int port) throws IOException {
    try (Socket socket = LoopbackSockets.open(server, port)) {
      byte[] mine = nic.endpoint().address();
      DataOutputStream toPeer = new DataOutputStream(socket.getOutputStream());
      toPeer.writeInt(mine.length);
      toPeer.write(mine);
      DataInputStream fromPeer = new DataInputStream(socket.getInputStream());
      peer = nic.peers().insert(fromPeer.readNBytes(fromPeer.readInt()));
    }
  }

  private void postRecv() {
    int code;
    while ((code = nic.endpoint().recv(in, 4096, nic.descriptor(), AddressVector.ANY, RECV))
        == -FabricErrno.EAGAIN) {
      poll();
    }
    check(code);
  }

  private void postSend() {
    int code;
    while ((code = nic.endpoint().send(out, BYTES, nic.descriptor(), peer, SEND))
        == -FabricErrno.EAGAIN) {
      poll();
    }
    check(code);
  }

  private static void check(int code) {
    if (code != 0) {
      throw new IllegalStateException("post returned -" + FabricErrno.name(-code));
    }
  }

  private void awaitRecv() {
    while (arrivals.received == 0) {
      poll();
    }
    arrivals.received--;
  }

  private void awaitSend() {
    while (arrivals.sent == 0) {
      poll();
    }
    arrivals.sent--;
  }

  private void pingPong(boolean server) {
    double[] halves = new double[BLOCKS];
    for (int block = 0; block < WARM_BLOCKS + BLOCKS; block++) {
      long start = System.nanoTime();
      exchangeBlock(server);
      if (block >= WARM_BLOCKS) {
        halves[block - WARM_BLOCKS] = (System.nanoTime() - start) / (double) BLOCK / 2;
      }
    }
    if (!server) {
      for (double half : halves) {
        System.out.printf(Locale.ROOT, "%.1f%n", half);
      }
    }
  }

  /** The receive of the next message is posted before the answer to this one leaves. */
  private void exchangeBlock(boolean server) {
    for (int i = 0; i < BLOCK; i++) {
      if (server) {
        awaitRecv();
        postRecv();
        postSend();
      } else {
        postRecv();
        postSend();
        awaitRecv();
      }
      awaitSend();
    }
  }
}
