package org.jofi.cli.allreduce;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.Comm;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * Memory that messages of a communicator use: host memory is registered by use, through the
 * device's registration cache, device memory once. For one thread.
 */
abstract class UsedMemory<C extends Comm> implements AutoCloseable {
  final C comm;
  final MemorySegment segment;

  /** Null if it is registered by use. */
  final @Nullable Registration registration;

  UsedMemory(C comm, Memory memory, Use use) {
    this.comm = comm;
    MemorySegment host = memory.segment();
    segment = host == null ? MemorySegment.NULL : host;
    registration = host == null ? comm.register(memory, use) : null;
  }

  final String path() {
    return registration == null ? "host" : registration.path();
  }

  @Override
  public final void close() {
    if (registration != null) {
      registration.close();
    }
  }
}
