package org.jofi.rdma.communicator;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.engine.SendConnection;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;

/** The connector's communicator. */
final class RdmaSendComm extends RdmaComm implements SendComm {
  /** A further send waits for blocks; one that has them goes on by itself. */
  private static final int STAGED_AT_ONCE = 16;

  private final SendConnection connection;

  RdmaSendComm(RdmaDevice device, DeviceEndpoint endpoint, SendConnection connection) {
    super(device, endpoint, connection, "send communicator", STAGED_AT_ONCE);
    this.connection = connection;
  }

  @Override
  public long isend(MemorySegment segment, long offset, long lengthBytes, int tag) {
    checkLength(lengthBytes);
    checkOpen();
    DataRegistration memory = segments().use(segment, offset, lengthBytes, Rights.SENT);
    long request = Result.TRY_AGAIN;
    try (var _ = lock().posting()) {
      checkOpen();
      request =
          connection.sender().send(segment.address() + offset, lengthBytes, tag, memory, true);
      uses().add(request, segment);
      return request;
    } finally {
      if (request == Result.TRY_AGAIN) {
        memory.endUse();
      }
    }
  }

  @Override
  public long isend(Registration registration, long offset, long lengthBytes, int tag) {
    RdmaRegistration ours = own(registration);
    checkLength(lengthBytes);
    long address = ours.address(Use.SEND, offset, lengthBytes);
    try (var _ = lock().posting()) {
      checkOpen();
      StagingSpace space = ours.space();
      long request =
          space == null
              ? connection.sender().send(address, lengthBytes, tag, ours.data())
              : connection.sender().sendStaged(space, address, lengthBytes, tag);
      uses().add(request, ours);
      return request;
    }
  }

  @Override
  boolean flushes(MemoryKind kind) {
    return false;
  }

  @Override
  long blockAccess() {
    return Rights.SENT;
  }

  @Override
  public boolean cancel(long request) {
    try (var _ = lock().posting()) {
      checkOpen();
      boolean cancelled = connection.sender().cancel(request);
      if (cancelled) {
        uses().over(request);
      }
      return cancelled;
    }
  }
}
