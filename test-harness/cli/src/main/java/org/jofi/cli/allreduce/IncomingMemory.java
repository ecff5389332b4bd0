package org.jofi.cli.allreduce;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * Memory as it is received over a communicator: host memory is registered by use, through the
 * device's registration cache, device memory once. For one thread.
 */
final class IncomingMemory implements AutoCloseable {
  private final RecvComm comm;
  private final MemorySegment segment;
  private final @Nullable Registration registration;

  IncomingMemory(RecvComm comm, Memory memory) {
    this.comm = comm;
    MemorySegment host = memory.segment();
    segment = host == null ? MemorySegment.NULL : host;
    registration = host == null ? comm.register(memory, Use.RECEIVE) : null;
  }

  /** As {@link RecvComm#irecv}. */
  long irecv(long offset, long bytes, int tag) {
    return registration == null
        ? comm.irecv(segment, offset, bytes, tag)
        : comm.irecv(registration, offset, bytes, tag);
  }

  /** As {@link RecvComm#iflush}; host memory needs none. */
  long iflush(long offset, long bytes) {
    return registration == null ? Result.NOTHING_TO_DO : comm.iflush(registration, offset, bytes);
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
