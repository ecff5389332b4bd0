package org.jofi.rdma.communicator;

import org.jofi.rdma.engine.Connection;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;

/** A communicator's reads and writes of its peer's memory: checked, then posted. As its calls. */
final class OneSidedCalls {
  private final RdmaComm comm;
  private final Connection connection;

  OneSidedCalls(RdmaComm comm, Connection connection) {
    this.comm = comm;
    this.connection = connection;
  }

  /** As {@link org.jofi.transport.Comm#iwrite}. */
  long write(
      long address,
      long lengthBytes,
      Registration registration,
      RemoteMemory remote,
      long remoteOffsetBytes) {
    RdmaRegistration ours = comm.own(registration);
    checkOneSided(lengthBytes, remote, remoteOffsetBytes);
    ours.check(address, lengthBytes);
    try (var _ = comm.lock().posting()) {
      comm.checkOpen();
      long request = connection.write(address, lengthBytes, ours.data(), remote, remoteOffsetBytes);
      if (request == Result.TRY_AGAIN) {
        comm.endpoint().help();
        request = connection.write(address, lengthBytes, ours.data(), remote, remoteOffsetBytes);
      }
      comm.uses().add(request, ours);
      return request;
    }
  }

  /** As {@link org.jofi.transport.Comm#iwriteInline}. */
  long writeInline(long address, long lengthBytes, RemoteMemory remote, long remoteOffsetBytes) {
    checkOneSided(lengthBytes, remote, remoteOffsetBytes);
    int most = comm.device().properties().limits().inlineWriteBytes();
    if (lengthBytes > most) {
      throw new IllegalArgumentException(
          "%s writes up to %d bytes inline, not %d".formatted(comm.label(), most, lengthBytes));
    }
    if (address == 0 && lengthBytes > 0) {
      throw new IllegalArgumentException(
          "%s: no %d bytes are at address 0".formatted(comm.label(), lengthBytes));
    }
    try (var _ = comm.lock().posting()) {
      comm.checkOpen();
      long request = connection.writeInline(address, lengthBytes, remote, remoteOffsetBytes);
      if (request == Result.TRY_AGAIN) {
        comm.endpoint().help();
        request = connection.writeInline(address, lengthBytes, remote, remoteOffsetBytes);
      }
      return request;
    }
  }

  /** As {@link org.jofi.transport.Comm#iread}. */
  long read(
      long address,
      long lengthBytes,
      Registration registration,
      RemoteMemory remote,
      long remoteOffsetBytes) {
    RdmaRegistration ours = comm.own(registration);
    checkOneSided(lengthBytes, remote, remoteOffsetBytes);
    ours.check(address, lengthBytes);
    try (var _ = comm.lock().posting()) {
      comm.checkOpen();
      long request = connection.read(address, lengthBytes, ours.data(), remote, remoteOffsetBytes);
      if (request == Result.TRY_AGAIN) {
        comm.endpoint().help();
        request = connection.read(address, lengthBytes, ours.data(), remote, remoteOffsetBytes);
      }
      comm.uses().add(request, ours);
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
