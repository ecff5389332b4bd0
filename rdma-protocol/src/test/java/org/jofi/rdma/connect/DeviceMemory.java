package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.BufferRange;
import org.jofi.rdma.staging.StagingShape;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.simulated.SimulatedDevice;
import org.jofi.simulated.Simulation;

/** Device memory of a host, which no NIC reaches, and the blocks that its messages go through. */
record DeviceMemory(
    SimulatedDevice device, StagingSpace space, MemorySegment sent, MemorySegment received)
    implements AutoCloseable {
  /** Chunks of 1 KiB, through 4 blocks. */
  private static final StagingShape SHAPE = new StagingShape(10, 4, 256);

  private static final int RINGS = 24;

  static DeviceMemory of(Simulation simulation, int index, Node node, long bytes) {
    SimulatedDevice device = simulation.host(index).openDevice(MemoryKind.CUDA);
    StagingSpace space =
        new StagingSpace(
            device,
            SHAPE,
            block ->
                node.host.endpoint.registrations.acquire(
                    BufferRange.host(block), Access.READ | Access.WRITE | Access.REMOTE_WRITE),
            4096,
            RINGS);
    return new DeviceMemory(
        device,
        space,
        simulation.host(index).allocateDevice(MemoryKind.CUDA, bytes),
        simulation.host(index).allocateDevice(MemoryKind.CUDA, bytes));
  }

  @Override
  public void close() {
    space.close();
    device.close();
  }
}
