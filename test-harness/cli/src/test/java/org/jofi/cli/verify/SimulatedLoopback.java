package org.jofi.cli.verify;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;

/** One write from a host to another's pretended GPU, on a fabric that may break its word. */
final class SimulatedLoopback implements DeliveryPath, CompletionQueue.Sink {
  private static final long GUARD = 128;
  private static final int SOURCE_SLOT = 1;
  private static final int FLUSH_SLOT = 2;

  private final Simulation simulation;
  private final Arena arena = Arena.ofConfined();
  private final Port left;
  private final Port right;
  private final MemorySegment source;
  private final MemorySegment target;
  private final MemoryRegion sourceRegion;
  private final MemoryRegion targetRegion;
  private final boolean flushes;
  private boolean sent;
  private boolean received;
  private boolean flushed;
  private String failure = "";

  private static final class Port {
    final Domain domain;
    final AddressVector peers;
    final CompletionQueue queue;
    final Endpoint endpoint;

    Port(FabricProvider provider) {
      domain = provider.open(provider.discover(FabricHints.any()).getFirst()).openDomain();
      peers = domain.openAddressVector(2);
      queue = domain.openCompletionQueue(64, 8);
      endpoint = domain.openEndpoint(EndpointRequest.of("loopback", peers, queue));
    }
  }

  /**
   * @param flushes whether the path's own flush does anything, rather than the other one
   */
  SimulatedLoopback(long bytes, FaultPlan faults, boolean flushes) {
    this.flushes = flushes;
    simulation = Simulation.of(Profile.EFA).faults(faults).open();
    left = new Port(simulation.host(0).provider());
    right = new Port(simulation.host(1).provider());
    left.peers.insert(right.endpoint.address());
    right.peers.insert(right.endpoint.address());
    source = arena.allocate(bytes, 64);
    target = simulation.host(1).allocateDevice(MemoryKind.CUDA, bytes + 2 * GUARD);
    sourceRegion = left.domain.register(RegionRequest.host(source, Access.ALL));
    targetRegion =
        right.domain.register(
            RegionRequest.device(
                MemoryKind.CUDA, 0, target.address(), target.byteSize(), Access.ALL));
  }

  @Override
  public String describe() {
    return "simulated";
  }

  @Override
  public long messageBytes() {
    return source.byteSize();
  }

  @Override
  public long guardBytes() {
    return GUARD;
  }

  @Override
  public void putSource(MemorySegment bytes) {
    source.copyFrom(bytes);
  }

  @Override
  public void putTarget(MemorySegment bytes) {
    target.copyFrom(bytes);
  }

  @Override
  public Optional<String> send() {
    sent = false;
    received = false;
    int answer =
        left.endpoint.writeData(
            source.address(),
            source.byteSize(),
            sourceRegion.descriptor(),
            7,
            0,
            target.address() + GUARD,
            targetRegion.key(),
            SOURCE_SLOT,
            PostFlags.DELIVERY_COMPLETE);
    if (answer != 0) {
      return Optional.of(FabricErrno.name(-answer));
    }
    for (int i = 0; i < 100_000 && failure.isEmpty() && !(sent && received); i++) {
      simulation.idle();
      poll();
    }
    return failure.isEmpty() && sent && received
        ? Optional.empty()
        : Optional.of("failed: " + failure);
  }

  @Override
  public Flush flush() {
    if (!flushes) {
      return Flush.NOT_NEEDED;
    }
    return read();
  }

  @Override
  public Flush flushOtherwise() {
    return flushes ? Flush.IMPOSSIBLE : read();
  }

  private Flush read() {
    MemorySegment landing = arena.allocate(64, 64);
    flushed = false;
    try (MemoryRegion region = right.domain.register(RegionRequest.host(landing, Access.ALL))) {
      int answer =
          right.endpoint.read(
              landing.address(),
              8,
              region.descriptor(),
              0,
              target.address(),
              targetRegion.key(),
              FLUSH_SLOT);
      if (answer != 0) {
        throw new AssertionError(FabricErrno.name(-answer));
      }
      for (int i = 0; i < 100_000 && !flushed; i++) {
        simulation.idle();
        poll();
      }
      return flushed ? Flush.DONE : Flush.IMPOSSIBLE;
    }
  }

  @Override
  public void settle(Duration time) {
    simulation.settle();
    poll();
  }

  private void poll() {
    left.queue.poll(this, 8);
    right.queue.poll(this, 8);
  }

  @Override
  public void readTarget(MemorySegment into) {
    into.copyFrom(target);
  }

  @Override
  public void completed(int context, long flags, long lengthBytes, long data) {
    sent |= context == SOURCE_SLOT;
    flushed |= context == FLUSH_SLOT;
    received |= (flags & CompletionFlags.REMOTE_CQ_DATA) != 0;
  }

  @Override
  public void failed(CompletionError error) {
    failure = FabricErrno.name(error.errno());
  }

  @Override
  public void close() {
    simulation.close();
    arena.close();
  }
}
