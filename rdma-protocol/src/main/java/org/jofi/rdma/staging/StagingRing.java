package org.jofi.rdma.staging;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.teardown.CloseSteps;
import org.jspecify.annotations.Nullable;

/**
 * Pinned and registered host blocks for one message at a time, one after the other in memory.
 *
 * @param space whose they are
 * @param registration what they are registered as
 * @param isSmall whether it is for short messages
 * @param blockBytes length of a block
 * @param blocks how many it has
 */
public record StagingRing(
    StagingSpace space,
    Arena arena,
    MemorySegment memory,
    DataRegistration registration,
    boolean isSmall,
    int blockBytes,
    int blocks) {

  /** The first byte of the block that a chunk goes through. */
  public long block(long chunk) {
    return memory.address() + chunk % blocks * blockBytes;
  }

  /** Gives blocks back to their space, if there are any. */
  public static void give(@Nullable StagingRing blocks) {
    if (blocks != null) {
      blocks.space.give(blocks);
    }
  }

  /** Frees the blocks, unless the NIC or the driver refuses to let go of them: those leak. */
  void close() {
    CloseSteps steps = new CloseSteps();
    steps.step(registration::release);
    steps.step(() -> space.device.unpin(memory.address()));
    if (steps.succeeded()) {
      arena.close();
    }
    steps.end();
  }
}
