package org.jofi.rdma;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.fabric.FabricException;
import org.jofi.mr.RegisteredArena;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/**
 * As {@link org.jofi.transport.Transport#openArena}.
 *
 * @param memory what allocates and frees
 */
record TransportArena(RegisteredArena memory) implements Arena {

  @Override
  public MemorySegment allocate(long byteSize, long byteAlignment) {
    return memory.allocate(byteSize, byteAlignment);
  }

  @Override
  public MemorySegment.Scope scope() {
    return memory.scope();
  }

  @Override
  public void close() {
    try {
      memory.close();
    } catch (RegistrationException | FabricException e) {
      throw new TransportException(FailureCause.FABRIC, String.valueOf(e.getMessage()), e);
    }
  }
}
