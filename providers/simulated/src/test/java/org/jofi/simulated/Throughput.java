package org.jofi.simulated;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.Access;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.simulated.profile.Profile;

/** Measures operations per second on virtual time, by hand: profile, bytes, seconds. */
public final class Throughput {
  private static final int WINDOW = 32;

  private Throughput() {}

  /** Counts completions, and frees their contexts. */
  private static final class Counter implements CompletionQueue.Sink {
    final int[] free = new int[WINDOW];
    int freeCount;
    long completed;

    Counter() {
      for (int i = 0; i < WINDOW; i++) {
        free[freeCount++] = i;
      }
    }

    @Override
    public void completed(int context, long flags, long lengthBytes, long data) {
      if (context >= 0) {
        free[freeCount++] = context;
        completed++;
      }
    }

    @Override
    public void failed(CompletionError error) {
      throw new AssertionError("errno " + error.errno());
    }
  }

  public static void main(String[] args) {
    long bytes = Long.parseLong(args[1]);
    long nanos = (long) (Double.parseDouble(args[2]) * 1e9);
    try (Pair pair = new Pair(Profile.named(args[0]))) {
      MemorySegment from = pair.memory(bytes);
      MemorySegment to = pair.memory(bytes);
      MemoryRegion local = pair.left.register(from, Access.LOCAL);
      MemoryRegion remote = pair.right.register(to, Access.REMOTE_WRITE);
      for (int round = 0; round < 3; round++) {
        measure(pair, from, local.descriptor(), to, remote.key(), bytes, nanos);
      }
    }
  }

  private static void measure(
      Pair pair,
      MemorySegment from,
      long descriptor,
      MemorySegment to,
      long key,
      long bytes,
      long nanos) {
    Counter left = new Counter();
    Counter right = new Counter();
    long start = System.nanoTime();
    long posted = 0;
    while (System.nanoTime() - start < nanos) {
      for (int i = 0; i < 256; i++) {
        while (left.freeCount > 0) {
          int context = left.free[--left.freeCount];
          int result =
              pair.left.endpoint.write(
                  from.address(),
                  bytes,
                  descriptor,
                  0,
                  pair.right.base(to),
                  key,
                  context,
                  PostFlags.NONE);
          if (result == -FabricErrno.EAGAIN) {
            left.free[left.freeCount++] = context;
            break;
          }
          posted++;
        }
        pair.simulation.idle();
        pair.left.queue.poll(left, WINDOW);
        pair.right.queue.poll(right, WINDOW);
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        "%d posted, %d completed in %.2f s: %.0f operations/s of %d B%n",
        posted, left.completed, seconds, left.completed / seconds, bytes);
    while (left.freeCount < WINDOW) {
      pair.simulation.idle();
      pair.left.queue.poll(left, WINDOW);
      pair.right.queue.poll(right, WINDOW);
    }
  }
}
