package org.jofi.benchmarks;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Locale;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/**
 * What it costs that counters can be read from outside. Processes differ by more than that, even
 * where nothing else does, so that one process has two transports, with and without, and moves
 * messages of 8 bytes from each to itself, in blocks by turns: the same compiled code, and within a
 * millisecond. Where their memory lies makes a difference, too, so that this is done with new ones
 * again and again.
 *
 * <pre>
 * PROVIDER [ROUNDS]
 * </pre>
 *
 * It prints a line for each round: the medians in nanoseconds a message, and that of the ratios of
 * neighbouring blocks. The last line has the medians over all rounds, and the first and third
 * quarter of their ratios.
 */
public final class CounterCost {
  private static final long BYTES = 8;
  private static final int TAG = 1;
  private static final int BLOCK = 500;
  private static final int WARM = 4000;
  private static final int BLOCKS = 1000;
  private static final int USUAL_ROUNDS = 40;
  private static final String COUNTERS = "jofi.counters";

  private final String provider;
  private final String place = System.getProperty(COUNTERS, "");
  private final double[] on = new double[BLOCKS];
  private final double[] off = new double[BLOCKS];
  private final double[] ratios = new double[BLOCKS];

  private CounterCost(String provider) {
    this.provider = provider;
  }

  /**
   * Runs it.
   *
   * @param arguments see above
   */
  public static void main(String[] arguments) {
    int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : USUAL_ROUNDS;
    CounterCost cost = new CounterCost(arguments[0]);
    cost.round(true, WARM);
    double[] with = new double[rounds];
    double[] without = new double[rounds];
    double[] ratios = new double[rounds];
    for (int round = 0; round < rounds; round++) {
      cost.round(round % 2 == 0, BLOCKS / 10);
      with[round] = part(cost.on, 0.5);
      without[round] = part(cost.off, 0.5);
      ratios[round] = part(cost.ratios, 0.5);
      print(with[round], without[round], ratios[round], "");
    }
    String quarters = " (%.4f to %.4f)".formatted(part(ratios, 0.25), part(ratios, 0.75));
    print(part(with, 0.5), part(without, 0.5), part(ratios, 0.5), quarters);
  }

  private static void print(double with, double without, double ratio, String quarters) {
    System.out.printf(
        Locale.ROOT, "with %.1f ns, without %.1f ns, %.4f%s%n", with, without, ratio, quarters);
  }

  /** With two new transports, of which the one with counters is opened first or last. */
  private void round(boolean first, int warm) {
    try (Loop one = new Loop(provider, first ? place : "off");
        Loop other = new Loop(provider, first ? "off" : place)) {
      Loop with = first ? one : other;
      Loop without = first ? other : one;
      for (int i = 0; i < warm; i++) {
        with.nanos();
        without.nanos();
      }
      measure(with, without);
    }
  }

  private void measure(Loop with, Loop without) {
    for (int i = 0; i < BLOCKS; i++) {
      // Neither is always the first.
      if (i % 2 == 0) {
        on[i] = with.nanos();
        off[i] = without.nanos();
      } else {
        off[i] = without.nanos();
        on[i] = with.nanos();
      }
      ratios[i] = on[i] / off[i];
    }
  }

  private static double part(double[] figures, double share) {
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    return sorted[(int) (share * (sorted.length - 1))];
  }

  /** A transport that sends to itself, polled by its caller. */
  private static final class Loop implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Transport transport;
    private final ListenComm listener;
    private final SendComm out;
    private final RecvComm in;
    private final Registration outMemory;
    private final Registration inMemory;

    Loop(String provider, String counters) {
      System.setProperty(COUNTERS, counters);
      transport = Transport.open(TransportOptions.builder().provider(provider).build());
      Device device = transport.devices().getFirst();
      listener = device.listen();
      SendComm sender = null;
      RecvComm receiver = null;
      try (ConnectAttempt attempt = device.connect(listener.handle())) {
        while (sender == null || receiver == null) {
          sender = sender == null ? attempt.poll() : sender;
          receiver = receiver == null ? listener.accept() : receiver;
        }
      }
      out = sender;
      in = receiver;
      outMemory = out.register(arena.allocate(BYTES, BYTES), Use.SEND);
      inMemory = in.register(arena.allocate(BYTES, BYTES), Use.RECEIVE);
    }

    /** A block of messages, each received before the next is sent; nanoseconds a message. */
    double nanos() {
      long start = System.nanoTime();
      for (int i = 0; i < BLOCK; i++) {
        long receive;
        do {
          receive = in.irecv(inMemory, 0, BYTES, TAG);
        } while (receive == Result.TRY_AGAIN);
        long send;
        do {
          send = out.isend(outMemory, 0, BYTES, TAG);
        } while (send == Result.TRY_AGAIN);
        await(in, receive);
        await(out, send);
      }
      return (double) (System.nanoTime() - start) / BLOCK;
    }

    private static void await(Comm comm, long request) {
      long result;
      do {
        result = comm.test(request);
      } while (result == Result.IN_PROGRESS);
      if (result != BYTES) {
        throw new IllegalStateException(Result.describe(result));
      }
    }

    @Override
    public void close() {
      out.close();
      in.close();
      listener.close();
      transport.close();
      arena.close();
    }
  }
}
