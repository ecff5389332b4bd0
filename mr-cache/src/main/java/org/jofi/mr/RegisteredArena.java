package org.jofi.mr;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jofi.fabric.FabricException;
import org.jofi.mr.cache.ClosingArenas;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RegistrationBusyException;
import org.jofi.mr.registration.RegistrationException;

/**
 * An arena of host memory that closes all registrations of its memory, on several devices, before
 * it frees the memory. Any thread may allocate, use the memory, and close.
 */
public final class RegisteredArena implements Arena {
  private final Arena memory = Arena.ofShared();
  private final Supplier<? extends Collection<DeviceRegistrations>> devices;

  // Guarded by this object's monitor.
  private final List<BufferRange> allocated = new ArrayList<>();

  /** An arena for memory that is registered on those devices that there are when it is closed. */
  public RegisteredArena(Supplier<? extends Collection<DeviceRegistrations>> devices) {
    this.devices = devices;
  }

  /** Allocates zeroed memory; see {@link Arena#allocate(long, long)}. */
  @Override
  public synchronized MemorySegment allocate(long byteSize, long byteAlignment) {
    MemorySegment segment = memory.allocate(byteSize, byteAlignment);
    if (byteSize > 0) {
      allocated.add(BufferRange.host(segment));
    }
    return segment;
  }

  @Override
  public MemorySegment.Scope scope() {
    return memory.scope();
  }

  /**
   * Closes all registrations of its memory, leased or not, then frees the memory. Once it is
   * closed, another call throws, as with every arena.
   *
   * @throws RegistrationBusyException if requests in flight use any of its memory; it can be used
   *     as before, but on devices where no request uses it, what was registered may be closed
   * @throws RegistrationException if other threads are still registering or closing it after {@link
   *     CacheLimits#waitNs}, or the thread was interrupted meanwhile; as above
   * @throws org.jofi.fabric.FabricException if a provider refuses to close a region; no memory was
   *     freed, but none of it can be registered any more. The call can be repeated.
   */
  @Override
  public synchronized void close() {
    if (memory.scope().isAlive()) {
      ClosingArenas.add(memory.scope());
      try {
        devices.get().forEach(device -> device.invalidate(allocated));
      } catch (FabricException refused) {
        ClosingArenas.decide(memory.scope());
        throw refused;
      } catch (RuntimeException undone) {
        ClosingArenas.remove(memory.scope());
        throw undone;
      }
    }
    try {
      memory.close();
    } finally {
      ClosingArenas.remove(memory.scope());
    }
  }
}
