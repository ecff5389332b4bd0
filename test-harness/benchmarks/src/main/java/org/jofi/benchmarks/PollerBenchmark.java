package org.jofi.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Poller;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What it costs to learn of requests: so many messages of 8 bytes to itself over a provider, 64 on
 * each connection, and both ends' requests taken as they end. One operation is all of the messages,
 * so divide by twice their number.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init") // JMH calls connect() first.
public class PollerBenchmark {
  private static final int PER_CONNECTION = 64;
  private static final int BYTES = 8;
  private static final int TAG = 1;

  /** Messages in flight. */
  @Param({"1", "64", "1024"})
  int inFlight;

  /** Of libfabric. */
  @Param({"shm", "net"})
  String provider;

  private Arena arena;
  private Transport transport;
  private Poller poller;
  private MemorySegment from;
  private MemorySegment to;
  private final List<SendComm> sends = new ArrayList<>();
  private final List<RecvComm> receives = new ArrayList<>();
  private Comm[] comms;
  private long[] requests;
  private int over;
  private boolean added;
  private final Poller.Completions count =
      (comm, request, cookie, result) -> {
        check(result);
        over++;
      };

  /** Connects the device with itself, as often as it takes. */
  @Setup(Level.Trial)
  public void connect() {
    arena = Arena.ofShared();
    from = arena.allocate(BYTES);
    to = arena.allocate((long) BYTES * inFlight);
    transport = Transport.open(TransportOptions.builder().provider(provider).build());
    Device device = transport.devices().getFirst();
    poller = device.openPoller();
    comms = new Comm[2 * inFlight];
    requests = new long[2 * inFlight];
    for (int i = 0; i < Math.ceilDiv(inFlight, PER_CONNECTION); i++) {
      try (ListenComm listener = device.listen();
          ConnectAttempt attempt = device.connect(listener.handle())) {
        SendComm out = null;
        RecvComm in = null;
        while (out == null || in == null) {
          out = attempt.poll();
          in = in == null ? listener.accept() : in;
        }
        sends.add(out);
        receives.add(in);
      }
    }
  }

  /** Closes them. */
  @TearDown(Level.Trial)
  public void close() {
    poller.close();
    transport.close();
    arena.close();
  }

  private void post() {
    for (int i = 0; i < inFlight; i++) {
      int connection = i / PER_CONNECTION;
      RecvComm in = receives.get(connection);
      SendComm out = sends.get(connection);
      comms[2 * i] = in;
      requests[2 * i] = in.irecv(to, (long) i * BYTES, BYTES, TAG);
      comms[2 * i + 1] = out;
      requests[2 * i + 1] = out.isend(from, 0, BYTES, TAG);
    }
  }

  private static void check(long result) {
    if (result != BYTES) {
      throw new IllegalStateException(Result.describe(result));
    }
  }

  /** Tests each request that is not over, again and again. */
  @Benchmark
  public void tests() {
    post();
    int left = requests.length;
    while (left > 0) {
      int still = 0;
      for (int i = 0; i < left; i++) {
        long result = comms[i].test(requests[i]);
        if (result == Result.IN_PROGRESS) {
          comms[still] = comms[i];
          requests[still++] = requests[i];
        } else {
          check(result);
        }
      }
      left = still;
    }
  }

  /** Polls. */
  @Benchmark
  public void polls() {
    if (!added) {
      sends.forEach(poller::add);
      receives.forEach(poller::add);
      added = true;
    }
    post();
    over = 0;
    while (over < requests.length) {
      poller.poll(count, 256);
    }
  }
}
