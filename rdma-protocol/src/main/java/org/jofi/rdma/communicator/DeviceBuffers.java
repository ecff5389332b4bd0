package org.jofi.rdma.communicator;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.DeviceAllocation;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricException;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.rdma.staging.StagingShape;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * Registers a communicator's device memory: with the NICs if they accept it, first through a
 * dma-buf and then by address; otherwise it is staged through host memory.
 */
final class DeviceBuffers {
  private static final String VIA_DMA_BUF = "GPU direct via dma-buf";

  private final RdmaComm owner;
  private final RdmaDevice device;
  private final int mostRings;
  // Written with the monitor held, as the next; never while memory is pinned or registered.
  private volatile List<StagingSpace> spaces = List.of();
  private boolean closed;

  DeviceBuffers(RdmaComm owner, RdmaDevice device, int mostRings) {
    this.owner = owner;
    this.device = device;
    this.mostRings = mostRings;
  }

  /**
   * Registers device memory; without the endpoint's lock.
   *
   * @param access that the uses need
   * @throws RegistrationException if the NICs refuse it and it cannot be staged
   * @throws TransportException if nothing here drives such memory
   */
  RdmaRegistration register(Memory memory, Set<Use> uses, long access) {
    boolean required = device.options.requireGpuDirect();
    if (device.profile.takesDeviceMemory()) {
      try {
        return registerDirectly(memory, uses, access);
      } catch (RegistrationException refused) {
        if (required || device.memories.find(memory.kind(), memory.device()).isEmpty()) {
          throw refused;
        }
        return stage(memory, uses, "; the NICs refused it: " + refused.getMessage());
      }
    }
    if (required) {
      throw new TransportException(
          FailureCause.UNAVAILABLE,
          "%s: its NICs take no device memory (FI_HMEM), and requireGpuDirect forbids to stage it"
              .formatted(owner.label()));
    }
    return stage(memory, uses, "");
  }

  private RdmaRegistration registerDirectly(Memory memory, Set<Use> uses, long access) {
    DeviceMemory gpu = device.memories.find(memory.kind(), memory.device()).orElse(null);
    BufferRange range = range(memory, gpu);
    DmaBuf given = memory.dmaBuf();
    if (given != null) {
      DataRegistration data = owner.memory.acquire(range.through(given), uses, access);
      return new RdmaRegistration(owner, memory, uses, data, null, VIA_DMA_BUF);
    }
    if (gpu != null && gpu.description().dmaBuf()) {
      DataRegistration exported = throughDmaBuf(range, gpu, uses, access);
      if (exported != null) {
        return new RdmaRegistration(owner, memory, uses, exported, null, VIA_DMA_BUF);
      }
    }
    DataRegistration data = owner.memory.acquire(range, uses, access);
    return new RdmaRegistration(owner, memory, uses, data, null, "GPU direct by address");
  }

  /**
   * The range, with the id of its allocation if the GPU's driver knows it.
   *
   * @throws FabricException if it is by address, and no memory that a NIC could register
   */
  private static BufferRange range(Memory memory, @Nullable DeviceMemory gpu) {
    long id = BufferRange.UNKNOWN_ALLOCATION;
    if (gpu != null) {
      try {
        DeviceAllocation found = gpu.allocation(memory.address());
        // Of a range over several mappings (cuMemMap), one id says too little.
        if (found.covers(memory.address(), memory.lengthBytes())) {
          id = found.id();
        }
      } catch (FabricException unknown) {
        // A dma-buf may be of memory that another driver allocated.
        if (memory.dmaBuf() == null) {
          throw unknown;
        }
      }
    }
    return BufferRange.device(
        memory.kind(), memory.device(), id, memory.address(), memory.lengthBytes());
  }

  /** A NIC holds on to the memory itself, so that the descriptor can be closed at once. */
  private @Nullable DataRegistration throughDmaBuf(
      BufferRange range, DeviceMemory gpu, Set<Use> uses, long access) {
    DmaBuf exported;
    try {
      exported = gpu.exportDmaBuf(range.address(), range.lengthBytes());
    } catch (FabricException kernelOrDriver) {
      return null;
    }
    @Nullable DataRegistration data = null;
    try {
      data = owner.memory.acquire(range.through(exported), uses, access);
    } catch (RegistrationException refused) {
      // Perhaps by address.
    } finally {
      close(exported, gpu, data);
    }
    return data;
  }

  private static void close(DmaBuf exported, DeviceMemory gpu, @Nullable DataRegistration data) {
    try {
      gpu.closeDmaBuf(exported);
    } catch (RuntimeException open) {
      if (data != null) {
        data.release();
      }
      throw open;
    }
  }

  private RdmaRegistration stage(Memory memory, Set<Use> uses, String why) {
    StagingSpace space = space(device.memories.open(memory.kind(), memory.device()));
    return new RdmaRegistration(owner, memory, uses, null, space, space.shape + why);
  }

  private StagingSpace space(DeviceMemory gpu) {
    StagingSpace known = known(gpu);
    if (known != null) {
      return known;
    }
    StagingSpace made =
        new StagingSpace(
            gpu,
            StagingShape.USUAL,
            block ->
                owner.memory.acquire(
                    BufferRange.host(block.address(), block.byteSize()), owner.blockAccess()),
            device.environment.pageBytes(),
            mostRings);
    synchronized (this) {
      known = known(gpu);
      if (known == null && !closed) {
        List<StagingSpace> all = new ArrayList<>(spaces);
        all.add(made);
        spaces = List.copyOf(all);
        return made;
      }
    }
    made.close();
    if (known == null) {
      throw new IllegalStateException(owner.label() + " was closed meanwhile");
    }
    return known;
  }

  private @Nullable StagingSpace known(DeviceMemory gpu) {
    for (StagingSpace space : spaces) {
      if (space.device.equals(gpu)) {
        return space;
      }
    }
    return null;
  }

  /** Adds blocks that a message waits for, if there may be more. Without the endpoint's lock. */
  void grow() {
    List<StagingSpace> those = spaces;
    for (int i = 0; i < those.size(); i++) {
      those.get(i).grow();
    }
  }

  /** Stages nothing any more; what is left is closed when the NICs can reach nothing any more. */
  synchronized List<StagingSpace> abandon() {
    closed = true;
    List<StagingSpace> left = spaces;
    spaces = List.of();
    return left;
  }
}
