package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import org.jofi.allocation.Allocation;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;

/** Posting and polling allocate nothing. */
class AllocationTest {
  private static final int OPERATIONS = 5_000;

  /** Counts, and nothing else. */
  private static final class Counter implements CompletionQueue.Sink {
    private long completed;

    @Override
    public void completed(int context, long flags, long lengthBytes, long data) {
      completed++;
    }

    @Override
    public void failed(CompletionError error) {
      throw new AssertionError(error.toException());
    }
  }

  @Test
  void dataPathAllocatesNothing() {
    try (Pair pair = new Pair(Profile.CXI)) {
      MemorySegment memory = pair.memory(256);
      MemoryRegion left = pair.left.register(memory, Access.ALL);
      MemoryRegion right = pair.right.register(pair.memory(256), Access.ALL);
      Counter counter = new Counter();
      int runs = Allocation.assertNone(() -> run(pair, memory, left, right, counter));
      assertEquals(5L * OPERATIONS * runs, counter.completed);
    }
  }

  /** Rounds of a send, a receive, a write with data and a read: five completions each. */
  private static void run(
      Pair pair, MemorySegment memory, MemoryRegion left, MemoryRegion right, Counter counter) {
    for (int i = 0; i < OPERATIONS; i++) {
      int sum =
          pair.right.endpoint.recv(0, 0, 0, AddressVector.ANY, 1)
              + pair.left.endpoint.send(memory.address(), 0, left.descriptor(), 0, 1)
              + pair.left.endpoint.writeData(
                  memory.address(), 128, left.descriptor(), 7, 0, 0, right.key(), 2, PostFlags.NONE)
              + pair.left.endpoint.read(
                  memory.address() + 128, 128, left.descriptor(), 0, 128, right.key(), 3);
      assertEquals(0, sum);
      pair.simulation.settle();
      pair.left.queue.poll(counter, 16);
      pair.right.queue.poll(counter, 16);
    }
  }
}
