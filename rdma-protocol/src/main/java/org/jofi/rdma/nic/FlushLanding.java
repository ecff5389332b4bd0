package org.jofi.rdma.nic;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.memory.BufferShape;
import org.jofi.rdma.memory.RegisteredBuffers;
import org.jofi.rdma.memory.RegisteredBuffers.Buffer;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * Where an endpoint's flushes land, a line of host memory per data rail, and how the endpoint
 * reaches itself on each. What lands there is not looked at, so flushes may share a line.
 */
public final class FlushLanding {
  private static final int LINE_BYTES = OperationSink.OWN_READ_BYTES;

  private final List<RailPort> rails;
  private final RegisteredBuffers memory;
  private final InsertedAddresses.@Nullable Entry[] selves;
  private @Nullable Buffer lines;

  /** Why a provider answers a read of its own memory itself; null if none does. */
  private @Nullable Failure notThroughNic;

  /** Why an endpoint does not reach itself on each rail; null on those where it does. */
  private final @Nullable Failure[] unreached;

  /**
   * @param blocks registers a block on all data rails, to be read into
   */
  public FlushLanding(
      List<RailPort> rails,
      int pageBytes,
      Function<MemorySegment, RegisteredBuffers.Registration> blocks) {
    this.rails = rails;
    int bytes = rails.size() * LINE_BYTES;
    BufferShape shape = new BufferShape(bytes, LINE_BYTES, 1, 1, pageBytes);
    memory = new RegisteredBuffers("flush landing", shape, blocks);
    selves = new InsertedAddresses.@Nullable Entry[rails.size()];
    unreached = new @Nullable Failure[rails.size()];
  }

  /**
   * Registers the lines, and makes the endpoint known to itself.
   *
   * @throws org.jofi.mr.registration.RegistrationException if a rail refuses
   */
  public void open() {
    lines = memory.take();
    for (RailPort port : rails) {
      port.rail()
          .endpoint()
          .ownReadRefusal()
          .ifPresent(
              why ->
                  notThroughNic =
                      new Failure(
                          FailureCause.UNAVAILABLE,
                          why.errno(),
                          "flush over %s".formatted(port.rail()),
                          "a read of an endpoint's own memory need not go through the NIC there: "
                              + why.getMessage()));
      reopened(port);
    }
  }

  public void reopened(RailPort port) {
    reach(port, () -> port.peer(port.address()));
  }

  /** Makes the endpoint of a rail known to itself. */
  public void reach(RailPort port, Supplier<InsertedAddresses.Entry> inserting) {
    try {
      selves[port.number] = inserting.get();
      unreached[port.number] = null;
    } catch (IllegalArgumentException | FabricException e) {
      unreached[port.number] =
          new Failure(
              FailureCause.UNAVAILABLE,
              e instanceof FabricException fabric ? fabric.errno() : 0,
              "flush over %s".formatted(port.rail()),
              "an endpoint cannot reach itself there: %s".formatted(e.getMessage()));
    }
  }

  public @Nullable Failure refusal() {
    Failure first = notThroughNic;
    for (int rail = 0; rail < unreached.length && first == null; rail++) {
      first = unreached[rail];
    }
    return first;
  }

  public long address(int rail) {
    return lines == null ? 0 : lines.address() + (long) rail * LINE_BYTES;
  }

  /** What posting calls on a rail take as descriptor for its line. */
  public long descriptor(int rail) {
    return lines == null ? 0 : lines.descriptor(rail);
  }

  /** This endpoint, as a peer of itself on a rail. */
  public InsertedAddresses.@Nullable Entry self(int rail) {
    return selves[rail];
  }

  /** Frees the memory, when nothing is registered any more; a second call does nothing. */
  public void free() {
    memory.abandon();
  }
}
