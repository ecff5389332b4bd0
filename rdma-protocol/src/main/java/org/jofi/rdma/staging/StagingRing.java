package org.jofi.rdma.staging;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.fabric.DeviceMemory;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.teardown.CloseSteps;

/** Pinned and registered host blocks for one message at a time, one after the other in memory. */
public final class StagingRing {
  private final Arena arena;
  private final DeviceMemory device;
  private final MemorySegment memory;
  private final DataRegistration registration;
  private final boolean isSmall;
  private final int blockBytes;
  private final int blocks;

  private StagingRing(
      Arena arena,
      DeviceMemory device,
      MemorySegment memory,
      DataRegistration registration,
      boolean isSmall,
      int blockBytes,
      int blocks) {
    this.arena = arena;
    this.device = device;
    this.memory = memory;
    this.registration = registration;
    this.isSmall = isSmall;
    this.blockBytes = blockBytes;
    this.blocks = blocks;
  }

  /** All of it or nothing: allocated, pinned, registered. */
  static StagingRing open(
      DeviceMemory device,
      BlockLease lease,
      boolean isSmall,
      int blockBytes,
      int blocks,
      int pageBytes) {
    Arena arena = Arena.ofShared();
    boolean pinned = false;
    boolean open = false;
    long address = 0;
    try {
      long bytes = (long) blockBytes * blocks + pageBytes - 1 & -pageBytes;
      MemorySegment memory = arena.allocate(bytes, pageBytes);
      address = memory.address();
      device.pin(address, memory.byteSize());
      pinned = true;
      StagingRing ring =
          new StagingRing(
              arena, device, memory, lease.register(memory), isSmall, blockBytes, blocks);
      open = true;
      return ring;
    } finally {
      if (!open) {
        if (pinned) {
          device.unpin(address);
        }
        arena.close();
      }
    }
  }

  /** The first byte of the block that a chunk goes through. */
  public long block(long chunk) {
    return memory.address() + chunk % blocks * blockBytes;
  }

  /** Whether it is for short messages. */
  boolean isSmall() {
    return isSmall;
  }

  /** How many blocks it has. */
  public int blocks() {
    return blocks;
  }

  /** Length of a block. */
  public int blockBytes() {
    return blockBytes;
  }

  /** What the blocks are registered as. */
  public DataRegistration registration() {
    return registration;
  }

  /** Frees the blocks, unless the NIC or the driver refuses to let go of them: those leak. */
  void close() {
    CloseSteps steps = new CloseSteps();
    steps.step(registration::release);
    steps.step(() -> device.unpin(memory.address()));
    if (steps.succeeded()) {
      arena.close();
    }
    steps.end();
  }
}
