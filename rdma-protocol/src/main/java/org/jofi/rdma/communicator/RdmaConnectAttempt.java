package org.jofi.rdma.communicator;

import org.jofi.rdma.connect.Attempt;
import org.jofi.rdma.connect.SendSide;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/** A connection being made from an endpoint. */
final class RdmaConnectAttempt implements ConnectAttempt {
  private final RdmaDevice device;
  private final DeviceEndpoint endpoint;
  private final Attempt attempt;
  private @Nullable SendComm made;

  RdmaConnectAttempt(RdmaDevice device, DeviceEndpoint endpoint, ConnectHandle handle) {
    this.device = device;
    this.endpoint = endpoint;
    endpoint.announce();
    synchronized (endpoint.lock()) {
      endpoint.entered();
      endpoint.checkOpen();
      attempt = endpoint.connections().handshakes().connect(handle);
    }
  }

  @Override
  public ConnectHandle handle() {
    return attempt.handle();
  }

  @Override
  public @Nullable SendComm poll() {
    endpoint.announce();
    synchronized (endpoint.lock()) {
      endpoint.entered();
      if (made == null) {
        endpoint.progress();
        Failure failure = attempt.failure();
        if (failure != null) {
          throw new TransportException(failure.cause(), failure.toString());
        }
        SendSide side = attempt.side();
        if (side != null) {
          made = new RdmaSendComm(device, endpoint, side);
        }
      }
      return made;
    }
  }

  @Override
  public void close() {
    endpoint.announceClosing();
    synchronized (endpoint.lock()) {
      endpoint.entered();
      if (made != null) {
        return;
      }
      SendSide side = attempt.side();
      if (side != null) {
        endpoint.connections().abort(side);
      } else {
        endpoint.connections().handshakes().cancel(attempt);
        endpoint.progress();
      }
    }
  }
}
