package org.jofi.mr;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jofi.mr.cache.RegistrationCache;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RegistrationBusyException;
import org.jofi.mr.registration.RegistrationException;

/**
 * An arena of host memory that closes all registrations of its memory before it frees the memory.
 * So its registrations can be cached, and nothing has to watch for memory that is freed. Any thread
 * may allocate, use the memory, and close.
 */
public final class RegisteredArena implements Arena {
  /** Supplies ids, each once in this process, so that arenas of different devices differ. */
  private static final AtomicLong IDS = new AtomicLong();

  private final Arena memory = Arena.ofShared();
  private final RegistrationCache cache;
  private final long allocationId;

  // Guarded by this object's monitor.
  private final List<BufferRange> allocated = new ArrayList<>();

  RegisteredArena(RegistrationCache cache) {
    this.cache = cache;
    this.allocationId = IDS.decrementAndGet();
    cache.openArena(allocationId);
  }

  /** Allocates zeroed memory; see {@link Arena#allocate(long, long)}. */
  @Override
  public synchronized MemorySegment allocate(long byteSize, long byteAlignment) {
    MemorySegment segment = memory.allocate(byteSize, byteAlignment);
    if (byteSize > 0) {
      allocated.add(BufferRange.host(segment).ofAllocation(allocationId));
    }
    return segment;
  }

  /**
   * The range to register for memory of this arena.
   *
   * @param segment memory that was allocated here, or a part of it
   * @throws IllegalArgumentException if it is not memory of this arena
   */
  public BufferRange range(MemorySegment segment) {
    if (!segment.scope().equals(memory.scope())) {
      throw new IllegalArgumentException("%s was not allocated in this arena".formatted(segment));
    }
    return BufferRange.host(segment).ofAllocation(allocationId);
  }

  @Override
  public MemorySegment.Scope scope() {
    return memory.scope();
  }

  /**
   * Closes all registrations of its memory, leased or not, then frees the memory. Once it is
   * closed, another call throws, as with every arena.
   *
   * @throws RegistrationBusyException if requests in flight use any of its memory; nothing was
   *     closed then
   * @throws RegistrationException if other threads are still registering or closing it after {@link
   *     CacheLimits#waitNs}, or the thread was interrupted meanwhile; nothing was closed then
   * @throws org.jofi.fabric.FabricException if a provider refuses to close a region; no memory was
   *     freed, but none of it can be registered any more. The call can be repeated.
   */
  @Override
  public synchronized void close() {
    if (memory.scope().isAlive()) {
      cache.closeArena(allocationId, allocated);
    }
    memory.close();
  }
}
