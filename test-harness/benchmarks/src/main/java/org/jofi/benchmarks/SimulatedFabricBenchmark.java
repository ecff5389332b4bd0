package org.jofi.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Writes per second on virtual time, on one thread: from the post to the polled completion. */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class SimulatedFabricBenchmark {
  private static final int WINDOW = 32;
  private static final int BATCH = 1024;

  @Param({"efa", "cxi", "cxi-client-key", "tcp"})
  private String profile = "";

  @Param({"8", "64", "1024"})
  private int bytes;

  private Simulation simulation;
  private Arena memory;
  private Peer left;
  private Peer right;
  private MemorySegment source;
  private MemorySegment target;
  private MemoryRegion local;
  private MemoryRegion remote;

  /** One host's endpoint, and its free contexts. */
  private static final class Peer implements CompletionQueue.Sink {
    final FabricInfo info;
    final Fabric fabric;
    final Domain domain;
    final AddressVector peers;
    final CompletionQueue queue;
    final Endpoint endpoint;
    final int[] free = new int[WINDOW];
    int freeCount;

    Peer(FabricProvider provider) {
      info = provider.discover(FabricHints.any()).getFirst();
      fabric = provider.open(info);
      domain = fabric.openDomain();
      peers = domain.openAddressVector(1);
      queue = domain.openCompletionQueue(2 * WINDOW, WINDOW);
      endpoint = domain.openEndpoint(EndpointRequest.of("benchmark", peers, queue));
      for (int i = 0; i < WINDOW; i++) {
        free[freeCount++] = i;
      }
    }

    MemoryRegion register(MemorySegment segment, long access) {
      RegionRequest request = RegionRequest.host(segment, access);
      RegionRequest keyed =
          info.keyOwner() == KeyOwner.APPLICATION ? request.withRequestedKey(1) : request;
      return info.registrationScope() == RegistrationScope.DOMAIN
          ? domain.register(keyed)
          : domain.registerForEndpoint(keyed).bind(endpoint).enable();
    }

    long base(MemorySegment segment) {
      return info.addressing() == Addressing.VIRTUAL ? segment.address() : 0;
    }

    void close(MemoryRegion region) {
      if (info.registrationScope() == RegistrationScope.DOMAIN) {
        endpoint.close();
      }
      region.close();
      endpoint.close();
      queue.close();
      peers.close();
      domain.close();
      fabric.close();
    }

    @Override
    public void completed(int context, long flags, long lengthBytes, long data) {
      free[freeCount++] = context;
    }

    @Override
    public void failed(CompletionError error) {
      throw new IllegalStateException(error.toException());
    }
  }

  /** Opens both sides. */
  @Setup(Level.Trial)
  public void open() {
    simulation = Simulation.of(Profile.named(profile)).open();
    memory = Arena.ofConfined();
    left = new Peer(simulation.host(0).provider());
    right = new Peer(simulation.host(1).provider());
    left.peers.insert(right.endpoint.address());
    source = memory.allocate(bytes, 64);
    target = memory.allocate(bytes, 64);
    local = left.register(source, Access.LOCAL);
    remote = right.register(target, Access.REMOTE_WRITE);
  }

  /** Closes both sides. */
  @TearDown(Level.Trial)
  public void close() {
    while (left.freeCount < WINDOW) {
      turn();
    }
    simulation.settle();
    left.close(local);
    right.close(remote);
    simulation.close();
    memory.close();
  }

  /** Posts and completes writes, at most 32 in flight. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long writes() {
    for (int posted = 0; posted < BATCH; ) {
      while (left.freeCount > 0 && posted < BATCH) {
        int context = left.free[left.freeCount - 1];
        int result =
            left.endpoint.write(
                source.address(),
                bytes,
                local.descriptor(),
                0,
                right.base(target),
                remote.key(),
                context,
                PostFlags.NONE);
        if (result == -FabricErrno.EAGAIN) {
          break;
        }
        if (result != 0) {
          throw new IllegalStateException(FabricErrno.name(-result));
        }
        left.freeCount--;
        posted++;
      }
      turn();
    }
    return simulation.nanoTime();
  }

  private void turn() {
    simulation.idle();
    left.queue.poll(left, WINDOW);
    right.queue.poll(right, WINDOW);
  }
}
