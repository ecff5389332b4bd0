package org.jofi.rdma.communicator;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.connect.Connection;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/** A communicator's reads and writes of its peer's memory: checked, then posted. As its calls. */
final class OneSidedCalls {
  private final RdmaComm comm;
  private final Connection connection;
  // What is written inline, on its way to the copy that is registered: copying from a segment is
  // checked against the end of its arena, an address is not. With the endpoint's lock held.
  private @Nullable MemorySegment written;

  OneSidedCalls(RdmaComm comm, Connection connection) {
    this.comm = comm;
    this.connection = connection;
  }

  /** As {@link org.jofi.transport.Comm#iread}, or {@link org.jofi.transport.Comm#iwrite}. */
  long move(
      boolean reads, MemorySegment near, long offset, long lengthBytes, RemoteMemory far, long at) {
    try (var _ = comm.callers.call()) {
      checkOneSided(lengthBytes, far, at);
      comm.checkOpen();
      long access = reads ? Rights.READ_INTO : Rights.SENT;
      DataRegistration memory = comm.memory.segments.use(near, offset, lengthBytes, access);
      try {
        return post(reads, near.address() + offset, lengthBytes, memory, near, far, at);
      } finally {
        memory.endUse();
      }
    }
  }

  long move(
      boolean reads, Registration near, long offset, long lengthBytes, RemoteMemory far, long at) {
    try (var _ = comm.callers.call()) {
      RdmaRegistration ours =
          comm.memory.own(near, reads ? Use.RECEIVE : Use.SEND, offset, lengthBytes);
      checkOneSided(lengthBytes, far, at);
      return post(reads, ours.memory().address() + offset, lengthBytes, ours.data(), ours, far, at);
    }
  }

  private long post(
      boolean reads,
      long address,
      long lengthBytes,
      DataRegistration memory,
      Object used,
      RemoteMemory far,
      long at) {
    try (var _ = comm.lock.posting()) {
      comm.checkOpen();
      long request = connection.oneSided.move(reads, address, lengthBytes, memory, far, at);
      if (request == Result.TRY_AGAIN) {
        comm.endpoint.help();
        request = connection.oneSided.move(reads, address, lengthBytes, memory, far, at);
      }
      return comm.posted(request, used);
    }
  }

  /** As {@link org.jofi.transport.Comm#iwriteInline}. */
  long writeInline(MemorySegment from, long offset, long lengthBytes, RemoteMemory to, long at) {
    try (var _ = comm.callers.call()) {
      checkOneSided(lengthBytes, to, at);
      int most = comm.device().properties().limits().inlineWriteBytes();
      if (lengthBytes > most) {
        throw new IllegalArgumentException(
            "%s writes up to %d bytes inline, not %d".formatted(comm.label(), most, lengthBytes));
      }
      comm.memory.segments.checkWithin(from, offset, lengthBytes);
      try (var _ = comm.lock.posting()) {
        comm.checkOpen();
        long address = copied(from, offset, lengthBytes);
        long request = connection.oneSided.writeInline(address, lengthBytes, to, at);
        if (request == Result.TRY_AGAIN) {
          comm.endpoint.help();
          request = connection.oneSided.writeInline(address, lengthBytes, to, at);
        }
        comm.events.posted(request);
        return request;
      }
    }
  }

  private long copied(MemorySegment from, long offset, long lengthBytes) {
    MemorySegment into = written;
    if (into == null) {
      into = Arena.ofAuto().allocate(comm.device().properties().limits().inlineWriteBytes());
      written = into;
    }
    MemorySegment.copy(from, offset, into, 0, lengthBytes);
    return into.address();
  }

  private void checkOneSided(long lengthBytes, RemoteMemory remote, long remoteOffsetBytes) {
    comm.checkLength(lengthBytes);
    if (remoteOffsetBytes < 0
        || lengthBytes > remote.lengthBytes()
        || remoteOffsetBytes > remote.lengthBytes() - lengthBytes) {
      throw new IllegalArgumentException(
          "%d bytes at offset %d are not within %s"
              .formatted(lengthBytes, remoteOffsetBytes, remote));
    }
    if (remote.rails() != comm.endpoint.driver.dataCount()) {
      throw new IllegalArgumentException(
          "%s has %d data rail(s), and %s"
              .formatted(comm.label(), comm.endpoint.driver.dataCount(), remote));
    }
  }
}
