package org.jofi.cli.allreduce;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * Memory as it is sent over a communicator: host memory is registered by use, through the device's
 * registration cache, device memory once. For one thread.
 */
final class OutgoingMemory implements AutoCloseable {
  private final SendComm comm;
  private final MemorySegment segment;
  private final @Nullable Registration registration;

  OutgoingMemory(SendComm comm, Memory memory) {
    this.comm = comm;
    MemorySegment host = memory.segment();
    segment = host == null ? MemorySegment.NULL : host;
    registration = host == null ? comm.register(memory, Use.SEND) : null;
  }

  /** As {@link SendComm#isend}. */
  long isend(long offset, long bytes, int tag) {
    return registration == null
        ? comm.isend(segment, offset, bytes, tag)
        : comm.isend(registration, offset, bytes, tag);
  }

  String path() {
    return registration == null ? "host" : registration.path();
  }

  @Override
  public void close() {
    if (registration != null) {
      registration.close();
    }
  }
}
