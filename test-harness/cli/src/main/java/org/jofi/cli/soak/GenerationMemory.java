package org.jofi.cli.soak;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jofi.cli.collectives.HostArray;
import org.jofi.cli.collectives.MeasuredArray;
import org.jofi.transport.Transport;

/**
 * The memory of a generation. A round closes what it opened; after a failure {@link #close} does,
 * once the communicators are aborted. For one thread.
 */
final class GenerationMemory implements AutoCloseable {
  private static final long FREE_WITHIN_NANOS = 30_000_000_000L;

  private final Transport transport;
  private final List<Arena> open = new ArrayList<>();

  GenerationMemory(Transport transport) {
    this.transport = transport;
  }

  /** An arena that refuses to close while a request uses its memory. */
  Arena open() {
    open.removeIf(each -> !each.scope().isAlive());
    Arena arena = transport.openArena();
    open.add(arena);
    return arena;
  }

  /** Closes one of these. */
  void close(Arena arena) {
    arena.close();
    open.remove(arena);
  }

  /** An array of an all-reduce. */
  MeasuredArray array(long bytes) {
    return new HostArray(open(), bytes);
  }

  /**
   * Closes what is open.
   *
   * @throws WrongDataException if requests of communicators that are closed still use some of it
   */
  @Override
  public void close() {
    open.removeIf(arena -> !arena.scope().isAlive());
    long deadline = System.nanoTime() + FREE_WITHIN_NANOS;
    while (!open.isEmpty()) {
      try {
        close(open.getLast());
      } catch (IllegalStateException e) {
        // A provider may hold an operation for a while after its communicator was aborted.
        if (System.nanoTime() - deadline > 0) {
          throw new WrongDataException(
              "memory of a generation whose communicators are closed is still in use: "
                  + e.getMessage());
        }
        try {
          TimeUnit.MILLISECONDS.sleep(20);
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
          throw e;
        }
      }
    }
  }
}
