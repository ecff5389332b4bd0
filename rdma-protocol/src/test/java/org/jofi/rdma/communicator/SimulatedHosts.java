package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.agrona.concurrent.IdleStrategy;
import org.jofi.fabric.DeviceMemory;
import org.jofi.rdma.RdmaTransport;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.Grouping;
import org.jofi.transport.ListenComm;
import org.jofi.transport.NicNames;
import org.jofi.transport.RailListener;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Tuning;

/** Transports on hosts of a simulated fabric, driven by this thread on virtual time. */
final class SimulatedHosts implements AutoCloseable {
  private static final int ROUNDS = 1_000_000;

  final Simulation simulation;
  final List<RdmaTransport> transports = new ArrayList<>();
  final Arena arena = Arena.ofShared();

  SimulatedHosts(Profile profile, long seed, int rails) {
    this(profile, seed, rails, options -> options);
  }

  SimulatedHosts(
      Profile profile, long seed, int rails, UnaryOperator<TransportOptions.Builder> options) {
    this(profile, seed, rails, options, memory -> memory);
  }

  /** With devices whose memory is as that makes of it. */
  SimulatedHosts(
      Profile profile,
      long seed,
      int rails,
      UnaryOperator<TransportOptions.Builder> options,
      UnaryOperator<DeviceMemory> devices) {
    this(_ -> options, profile, seed, rails, devices);
  }

  /** Of which each uses as many rails as that says, and flushes what was received. */
  static SimulatedHosts unequal(
      Profile profile, long seed, int first, int second, RailListener listener) {
    return new SimulatedHosts(
        host ->
            options ->
                options
                    .nics(NicNames.of(nics(profile, host == 0 ? first : second)))
                    .flushPolicy(FlushPolicy.ALWAYS)
                    .railListener(listener),
        profile,
        seed,
        Math.max(first, second),
        memory -> memory);
  }

  private static String nics(Profile profile, int count) {
    return IntStream.range(0, count)
        .mapToObj(nic -> profile.device() + nic)
        .collect(Collectors.joining(",", "=", ""));
  }

  private SimulatedHosts(
      IntFunction<UnaryOperator<TransportOptions.Builder>> options,
      Profile profile,
      long seed,
      int rails,
      UnaryOperator<DeviceMemory> devices) {
    simulation =
        Simulation.of(profile)
            .seed(seed)
            .hosts(2)
            .nicsPerHost(rails)
            .faults(FaultPlan.survivable())
            .open();
    for (int host = 0; host < 2; host++) {
      transports.add(
          RdmaTransport.open(
              simulation.host(host).provider(),
              options
                  .apply(host)
                  .apply(
                      TransportOptions.builder()
                          .grouping(new Grouping.Together())
                          .tuning(Tuning.DEFAULT.withMinStripeBytes(512)))
                  .build(),
              new RdmaEnvironment(
                  simulation::nanoTime,
                  new SplittableRandom(seed + host)::nextLong,
                  Pause::new,
                  4096,
                  Path.of("no-sysfs"),
                  new PretendedDevices(simulation.host(host), devices)::of)));
    }
  }

  /** Lets all hosts run, then time pass. */
  private final class Pause implements IdleStrategy {
    @Override
    public void idle(int workCount) {
      if (workCount == 0) {
        idle();
      }
    }

    @Override
    public void idle() {
      if (tend() == 0) {
        simulation.idle();
      }
    }

    @Override
    public void reset() {}
  }

  int tend() {
    return transports.stream().mapToInt(RdmaTransport::tend).sum();
  }

  Device device(int host) {
    return transports.get(host).devices().getFirst();
  }

  void await(String what, BooleanSupplier done) {
    Pause pause = new Pause();
    for (int round = 0; !done.getAsBoolean(); round++) {
      assertTrue(round < ROUNDS, () -> what + ", seed " + simulation.seed());
      pause.idle();
    }
  }

  long await(Comm comm, long request) {
    assertTrue(request > 0, () -> Result.describe(request));
    long[] result = {Result.IN_PROGRESS};
    await(
        comm.label(),
        () -> {
          result[0] = comm.test(request);
          return result[0] != Result.IN_PROGRESS;
        });
    return result[0];
  }

  /** From the first host to the second. */
  Pair connect() {
    return connect(device(0), device(1));
  }

  Pair connect(Device from, Device to) {
    try (ListenComm listener = to.listen()) {
      ConnectAttempt attempt = from.connect(listener.handle());
      SendComm[] send = new SendComm[1];
      RecvComm[] receive = new RecvComm[1];
      await(
          "connecting",
          () -> {
            send[0] = attempt.poll();
            receive[0] = receive[0] == null ? listener.accept() : receive[0];
            return send[0] != null && receive[0] != null;
          });
      assertNotNull(send[0]);
      return new Pair(send[0], receive[0]);
    }
  }

  MemorySegment memory(long bytes, int pattern) {
    MemorySegment memory = arena.allocate(bytes);
    for (long at = 0; at < bytes; at++) {
      memory.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at, (byte) (at * 7 + pattern));
    }
    return memory;
  }

  /** Whether the collector finds nobody who holds it. */
  static boolean isCollected(WeakReference<?> object) {
    for (int i = 0; i < 5 && !object.refersTo(null); i++) {
      System.gc();
    }
    return object.refersTo(null);
  }

  /** A connection. */
  record Pair(SendComm send, RecvComm receive) {}

  /** Closes both transports, and demands that nothing stays open. */
  @Override
  public void close() {
    transports.forEach(RdmaTransport::close);
    assertTrue(simulation.openObjects().isEmpty(), () -> simulation.openObjects().toString());
    simulation.close();
    arena.close();
  }
}
