package org.jofi.rdma.communicator;

import org.jofi.rdma.connect.SendSide;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;

/** The connector's communicator. */
final class RdmaSendComm extends RdmaComm implements SendComm {
  /** A send waits for blocks; one that has them goes on by itself. */
  private static final int STAGED_AT_ONCE = 16;

  private final SendSide side;

  RdmaSendComm(RdmaDevice device, DeviceEndpoint endpoint, SendSide side) {
    super(device, endpoint, side, "send communicator", STAGED_AT_ONCE);
    this.side = side;
  }

  @Override
  public long isend(long address, long lengthBytes, int tag, Registration registration) {
    RdmaRegistration ours = own(registration);
    checkLength(lengthBytes);
    ours.check(address, lengthBytes);
    synchronized (announcedLock()) {
      endpoint().entered();
      checkOpen();
      long request = send(address, lengthBytes, tag, ours);
      if (request == Result.TRY_AGAIN) {
        // Where progress is manual, the receive's entry lands while this side polls.
        endpoint().help();
        request = send(address, lengthBytes, tag, ours);
      }
      uses().add(request, ours);
      return request;
    }
  }

  private long send(long address, long lengthBytes, int tag, RdmaRegistration ours) {
    StagingSpace space = ours.space();
    return space == null
        ? side.sender().send(address, lengthBytes, tag, ours.data())
        : side.sender().sendStaged(space, address, lengthBytes, tag);
  }
}
