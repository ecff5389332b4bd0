package org.jofi.rdma.communicator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricException;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.rdma.device.DeviceMemories;
import org.jofi.rdma.staging.StagingShape;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.Buffer;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Registers a communicator's device memory: with the NICs if they accept it, first through a
 * dma-buf and then by address; otherwise it is staged through host memory.
 */
final class DeviceBuffers {
  private final RdmaComm owner;
  private final DeviceMemories memories;
  private final boolean direct;
  private final boolean required;
  private final int pageBytes;
  private final int mostRings;
  // Guarded by the endpoint's lock.
  private final Map<DeviceMemory, StagingSpace> spaces = new HashMap<>();
  private boolean closed;

  /**
   * @param direct whether the NICs say that they take device memory
   * @param required whether to fail rather than to stage
   * @param mostRings sets of blocks that there may be
   */
  DeviceBuffers(
      RdmaComm owner,
      DeviceMemories memories,
      boolean direct,
      boolean required,
      int pageBytes,
      int mostRings) {
    this.owner = owner;
    this.memories = memories;
    this.direct = direct;
    this.required = required;
    this.pageBytes = pageBytes;
    this.mostRings = mostRings;
  }

  /**
   * Registers device memory; without the endpoint's lock.
   *
   * @throws RegistrationException if the NICs refuse it and it cannot be staged
   * @throws TransportException if nothing here drives such memory
   */
  RdmaRegistration register(Buffer buffer) {
    if (direct) {
      try {
        return registerDirectly(buffer);
      } catch (RegistrationException refused) {
        if (required || memories.find(buffer.kind(), buffer.device()).isEmpty()) {
          throw refused;
        }
        return stage(buffer, "; the NICs refused it: " + refused.getMessage());
      }
    }
    if (required) {
      throw new TransportException(
          FailureCause.UNAVAILABLE,
          "%s: its NICs take no device memory (FI_HMEM), and requireGpuDirect forbids to stage it"
              .formatted(owner.label()));
    }
    return stage(buffer, "");
  }

  private RdmaRegistration registerDirectly(Buffer buffer) {
    BufferRange range = RdmaComm.range(buffer);
    DeviceMemory memory =
        buffer.dmaBuf() == null ? memories.find(buffer.kind(), buffer.device()).orElse(null) : null;
    if (memory == null) {
      return new RdmaRegistration(
          owner,
          buffer,
          owner.acquire(range),
          buffer.dmaBuf() == null ? "GPU direct by address" : "GPU direct via dma-buf");
    }
    if (memory.description().dmaBuf()) {
      RdmaRegistration exported = throughDmaBuf(buffer, range, memory);
      if (exported != null) {
        return exported;
      }
    }
    long id = memory.allocation(buffer.address()).id();
    return new RdmaRegistration(
        owner, buffer, owner.acquire(range.ofAllocation(id)), "GPU direct by address");
  }

  private @Nullable RdmaRegistration throughDmaBuf(
      Buffer buffer, BufferRange range, DeviceMemory memory) {
    DmaBuf exported;
    try {
      exported = memory.exportDmaBuf(buffer.address(), buffer.lengthBytes());
    } catch (FabricException kernelOrDriver) {
      return null;
    }
    try {
      DataRegistration data = owner.acquire(range.through(exported));
      return new RdmaRegistration(
          owner, buffer, data, null, "GPU direct via dma-buf", () -> memory.closeDmaBuf(exported));
    } catch (RegistrationException refused) {
      memory.closeDmaBuf(exported);
      return null;
    }
  }

  private RdmaRegistration stage(Buffer buffer, String why) {
    DeviceMemory memory = memories.open(buffer.kind(), buffer.device());
    try (var _ = owner.lock().rare()) {
      if (closed) {
        throw new IllegalStateException(owner.label() + " was closed meanwhile");
      }
      StagingSpace space = spaces.get(memory);
      if (space == null) {
        space =
            new StagingSpace(
                memory,
                StagingShape.USUAL,
                block -> owner.acquire(BufferRange.host(block.address(), block.byteSize())),
                pageBytes,
                mostRings);
        spaces.put(memory, space);
      }
      return new RdmaRegistration(owner, buffer, null, space, space.shape() + why, () -> {});
    }
  }

  /** Frees all blocks, which no NIC can access any more. With the endpoint's lock held. */
  void close() {
    CloseSteps steps = new CloseSteps();
    abandon().forEach(space -> steps.step(space::close));
    steps.end();
  }

  /** What is left to close when the NICs can reach nothing any more. */
  List<StagingSpace> abandon() {
    closed = true;
    List<StagingSpace> left = new ArrayList<>(spaces.values());
    spaces.clear();
    return left;
  }
}
