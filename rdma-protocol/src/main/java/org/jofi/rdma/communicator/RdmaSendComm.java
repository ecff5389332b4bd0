package org.jofi.rdma.communicator;

import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.engine.SendConnection;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.Registration;
import org.jofi.transport.SendComm;

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
  public long isend(long address, long lengthBytes, int tag, Registration registration) {
    RdmaRegistration ours = own(registration);
    checkLength(lengthBytes);
    ours.check(address, lengthBytes);
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
  public boolean cancel(long request) {
    try (var _ = lock().posting()) {
      checkOpen();
      return connection.sender().cancel(request);
    }
  }
}
