package org.jofi.rdma.communicator;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Connection;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/** A communicator's reads and writes of its peer's memory: checked, then posted. As its calls. */
final class OneSidedCalls {
  private final RdmaComm comm;
  private final Connection connection;
  // What is written inline, on its way to the copy that is registered: a copy of a segment is
  // checked
  // against the end of its arena, an address is not. With the endpoint's lock held.
  private @Nullable MemorySegment written;

  OneSidedCalls(RdmaComm comm, Connection connection) {
    this.comm = comm;
    this.connection = connection;
  }

  /** As {@link org.jofi.transport.Comm#iwrite}. */
  long write(MemorySegment from, long offset, long lengthBytes, RemoteMemory to, long at) {
    checkOneSided(lengthBytes, to, at);
    comm.checkOpen();
    DataRegistration lease = comm.leases().lease(from, offset, lengthBytes, Rights.SENT);
    try {
      return write(from.address() + offset, lengthBytes, lease, from, to, at);
    } finally {
      // The request uses it by itself.
      lease.release();
    }
  }

  /** As {@link org.jofi.transport.Comm#iwrite}. */
  long write(Registration from, long offset, long lengthBytes, RemoteMemory to, long at) {
    RdmaRegistration ours = comm.own(from);
    checkOneSided(lengthBytes, to, at);
    return write(
        ours.address(Use.SEND, offset, lengthBytes), lengthBytes, ours.data(), ours, to, at);
  }

  private long write(
      long address,
      long lengthBytes,
      DataRegistration data,
      Object memory,
      RemoteMemory to,
      long at) {
    try (var _ = comm.lock().posting()) {
      comm.checkOpen();
      long request = connection.write(address, lengthBytes, data, to, at);
      if (request == Result.TRY_AGAIN) {
        comm.endpoint().help();
        request = connection.write(address, lengthBytes, data, to, at);
      }
      comm.uses().add(request, memory);
      return request;
    }
  }

  /** As {@link org.jofi.transport.Comm#iwriteInline}. */
  long writeInline(MemorySegment from, long offset, long lengthBytes, RemoteMemory to, long at) {
    checkOneSided(lengthBytes, to, at);
    int most = comm.device().properties().limits().inlineWriteBytes();
    if (lengthBytes > most) {
      throw new IllegalArgumentException(
          "%s writes up to %d bytes inline, not %d".formatted(comm.label(), most, lengthBytes));
    }
    if (offset < 0 || offset > from.byteSize() - lengthBytes) {
      throw new IllegalArgumentException(
          "%s: %d bytes at offset %d are not within %s"
              .formatted(comm.label(), lengthBytes, offset, from));
    }
    try (var _ = comm.lock().posting()) {
      comm.checkOpen();
      long address = copied(from, offset, lengthBytes);
      long request = connection.writeInline(address, lengthBytes, to, at);
      if (request == Result.TRY_AGAIN) {
        comm.endpoint().help();
        request = connection.writeInline(address, lengthBytes, to, at);
      }
      return request;
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

  /** As {@link org.jofi.transport.Comm#iread}. */
  long read(MemorySegment into, long offset, long lengthBytes, RemoteMemory from, long at) {
    checkOneSided(lengthBytes, from, at);
    if (into.isReadOnly()) {
      throw new IllegalArgumentException(
          "%s: nothing can be read into %s, which is read-only".formatted(comm.label(), into));
    }
    comm.checkOpen();
    DataRegistration lease = comm.leases().lease(into, offset, lengthBytes, Rights.READ_INTO);
    try {
      return read(into.address() + offset, lengthBytes, lease, into, from, at);
    } finally {
      // The request uses it by itself.
      lease.release();
    }
  }

  /** As {@link org.jofi.transport.Comm#iread}. */
  long read(Registration into, long offset, long lengthBytes, RemoteMemory from, long at) {
    RdmaRegistration ours = comm.own(into);
    checkOneSided(lengthBytes, from, at);
    return read(
        ours.address(Use.RECEIVE, offset, lengthBytes), lengthBytes, ours.data(), ours, from, at);
  }

  private long read(
      long address,
      long lengthBytes,
      DataRegistration data,
      Object memory,
      RemoteMemory from,
      long at) {
    try (var _ = comm.lock().posting()) {
      comm.checkOpen();
      long request = connection.read(address, lengthBytes, data, from, at);
      if (request == Result.TRY_AGAIN) {
        comm.endpoint().help();
        request = connection.read(address, lengthBytes, data, from, at);
      }
      comm.uses().add(request, memory);
      return request;
    }
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
    if (remote.rails() != comm.endpoint().rails().dataCount()) {
      throw new IllegalArgumentException(
          "%s has %d data rail(s), and %s"
              .formatted(comm.label(), comm.endpoint().rails().dataCount(), remote));
    }
  }
}
