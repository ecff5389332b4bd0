package org.jofi.cli.verify;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.Await;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/**
 * Moves messages between GPU memory and pinned host memory, both ways, through two transports of
 * this process, each driven by a thread of its own: checks every byte, and measures. Needs a GPU.
 *
 * <p>Arguments: libfabric's provider, the most bytes, and how often to repeat what is measured.
 */
final class StagingTrial implements AutoCloseable {
  private static final Duration BOUND = Duration.ofMinutes(2);
  private static final int TAG = 11;
  private static final long MEASURED_FROM = 64L << 20;

  private final DeviceMemory gpu;
  private final Transport there;
  private final Transport here;
  private final SendComm sender;
  private final RecvComm receiver;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment source;
  private final MemorySegment target;
  private final long gpuSource;
  private final long gpuTarget;
  private final Registration[] sources;
  private final Registration[] targets;
  private final ExecutorService threads = Executors.newFixedThreadPool(2);

  private StagingTrial(DeviceMemory gpu, TransportOptions options, long most) {
    this.gpu = gpu;
    there = Transport.open(options);
    here = Transport.open(options);
    try (ListenComm listener = here.devices().getFirst().listen();
        ConnectAttempt attempt = there.devices().getFirst().connect(listener.handle())) {
      RecvComm accepted = null;
      SendComm connected = attempt.poll();
      long end = System.nanoTime() + BOUND.toNanos();
      while ((accepted == null || connected == null) && System.nanoTime() < end) {
        accepted = accepted == null ? listener.accept() : accepted;
        connected = attempt.poll();
      }
      if (accepted == null || connected == null) {
        throw new IllegalStateException("no connection");
      }
      receiver = accepted;
      sender = connected;
    }
    source = arena.allocate(most, 4096);
    target = arena.allocate(most, 4096);
    gpu.pin(source.address(), most);
    gpu.pin(target.address(), most);
    gpuSource = gpu.allocate(most);
    gpuTarget = gpu.allocate(most);
    sources =
        new Registration[] {
          sender.register(Memory.of(source), Use.SEND),
          sender.register(Memory.device(MemoryKind.CUDA, 0, gpuSource, most), Use.SEND)
        };
    targets =
        new Registration[] {
          receiver.register(Memory.of(target), Use.RECEIVE),
          receiver.register(Memory.device(MemoryKind.CUDA, 0, gpuTarget, most), Use.RECEIVE)
        };
  }

  public static void main(String[] arguments) throws Exception {
    DeviceMemoryProvider cuda = DeviceMemoryProvider.of(MemoryKind.CUDA).orElseThrow();
    DeviceProbe probe = cuda.probe();
    if (!probe.isUsable()) {
      System.out.println("no GPU: " + probe.obstacle() + " " + probe.remedy());
      System.exit(3);
    }
    long most = Long.parseLong(arguments[1]);
    TransportOptions options = TransportOptions.builder().provider(arguments[0]).build();
    try (DeviceMemory gpu = cuda.open(0);
        StagingTrial trial = new StagingTrial(gpu, options, most)) {
      trial.run(most, Integer.parseInt(arguments[2]));
    }
  }

  private void run(long most, int repeats) throws Exception {
    System.out.printf(
        "%s, %s%n", gpu.description().name(), here.devices().getFirst().properties().provider());
    System.out.println("sent from " + sources[1].path() + "; received, " + targets[1].path());
    fill(most);
    for (long bytes : new long[] {1, 2, 63, 4096, 65_536, 65_537, 1 << 20, (1 << 20) + 1}) {
      check(bytes);
    }
    for (long bytes = 9_999_999; bytes < most; bytes = bytes * 3 + 1) {
      check(bytes);
    }
    check(most);
    System.out.println("every byte arrived, 1 B to " + most + " B, both directions");
    System.out.printf(
        "%12s %14s %14s %14s %14s %8s%n",
        "bytes", "pinned host", "GPU to host", "host to GPU", "GPU to GPU", "worst");
    for (long bytes = MEASURED_FROM; bytes <= most; bytes *= 4) {
      measure(bytes, repeats);
    }
  }

  private void fill(long most) {
    SplittableRandom random = new SplittableRandom(1);
    for (long at = 0; at + 8 <= most; at += 8) {
      source.set(ValueLayout.JAVA_LONG, at, random.nextLong());
    }
    gpu.copyFromHost(source.address(), gpuSource, most);
  }

  private void check(long bytes) throws Exception {
    for (int from = 0; from < 2; from++) {
      for (int to = 0; to < 2; to++) {
        target.asSlice(0, bytes).fill((byte) 0x5a);
        gpu.copyFromHost(target.address(), gpuTarget, bytes);
        move(from, to, bytes);
        if (to == 1) {
          gpu.copyToHost(gpuTarget, target.address(), bytes);
        }
        long at = target.asSlice(0, bytes).mismatch(source.asSlice(0, bytes));
        if (at >= 0) {
          throw new AssertionError(
              "%d bytes, from %d to %d: wrong at %d".formatted(bytes, from, to, at));
        }
      }
    }
  }

  private void measure(long bytes, int repeats) throws Exception {
    double[][] rates = new double[4][repeats];
    for (int repeat = 0; repeat < repeats; repeat++) {
      for (int way = 0; way < 4; way++) {
        rates[way][repeat] = bytes / (double) move(way & 1, way >> 1, bytes);
      }
    }
    double[] median = new double[4];
    for (int way = 0; way < 4; way++) {
      Arrays.sort(rates[way]);
      median[way] = rates[way][repeats / 2];
    }
    double worst = Math.min(median[1], Math.min(median[2], median[3])) / median[0];
    System.out.printf(
        Locale.ROOT,
        "%12d %9.2f GB/s %9.2f GB/s %9.2f GB/s %9.2f GB/s %8.2f%n",
        bytes,
        median[0],
        median[1],
        median[2],
        median[3],
        worst);
  }

  /** Sends a message; how long it took, in nanoseconds. */
  private long move(int from, int to, long bytes) throws Exception {
    long start = System.nanoTime();
    Future<Long> received =
        threads.submit(
            () -> {
              Registration into = targets[to];
              return await(receiver, receiver.irecv(into, 0, bytes, TAG));
            });
    Future<Long> sent =
        threads.submit(
            () -> {
              Registration out = sources[from];
              long request = Result.TRY_AGAIN;
              long end = System.nanoTime() + BOUND.toNanos();
              while (request == Result.TRY_AGAIN && System.nanoTime() < end) {
                request = sender.isend(out, 0, bytes, TAG);
              }
              return await(sender, request);
            });
    long there = sent.get(BOUND.toSeconds(), TimeUnit.SECONDS);
    long here = received.get(BOUND.toSeconds(), TimeUnit.SECONDS);
    if (there != bytes || here != bytes) {
      throw new AssertionError("%d bytes: sent %d, received %d".formatted(bytes, there, here));
    }
    return System.nanoTime() - start;
  }

  private static long await(Comm comm, long request) {
    return new Await(IdleStrategy.yielding()).request(comm, request, BOUND);
  }

  @Override
  public void close() {
    threads.shutdown();
    there.close();
    here.close();
    gpu.unpin(source.address());
    gpu.unpin(target.address());
    gpu.free(gpuSource);
    gpu.free(gpuTarget);
    arena.close();
  }
}
