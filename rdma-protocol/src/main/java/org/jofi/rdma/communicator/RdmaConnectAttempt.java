package org.jofi.rdma.communicator;

import org.jofi.rdma.connect.Attempt;
import org.jofi.rdma.connect.SendConnection;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.ConnectionEvent;
import org.jofi.transport.diagnostics.Events;
import org.jspecify.annotations.Nullable;

/** A connection being made from an endpoint. */
final class RdmaConnectAttempt implements ConnectAttempt {
  private final RdmaDevice device;
  private final DeviceEndpoint endpoint;
  private final Attempt attempt;
  private @Nullable SendComm made;
  private final @Nullable ConnectionEvent begun = Events.connection();
  private boolean told;

  RdmaConnectAttempt(RdmaDevice device, DeviceEndpoint endpoint, ConnectHandle handle) {
    this.device = device;
    this.endpoint = endpoint;
    try (var _ = endpoint.lock.posting()) {
      endpoint.checkOpen();
      attempt = endpoint.connections.connector().connect(handle);
    }
  }

  @Override
  public ConnectHandle handle() {
    return attempt.handle;
  }

  @Override
  public @Nullable SendComm poll() {
    try (var _ = endpoint.lock.posting()) {
      if (made == null) {
        endpoint.progress();
        Failure failure = attempt.failure();
        if (failure != null) {
          tell("", "failed", failure.toString());
          throw new TransportException(failure);
        }
        SendConnection connection = attempt.connection();
        if (connection != null) {
          made = new RdmaSendComm(device, endpoint, connection);
          tell(made.label(), "connected", "");
        }
      }
      return made;
    }
  }

  /** Once, how it ended; it may have begun before anybody recorded. */
  private void tell(String label, String outcome, String cause) {
    if (!told) {
      told = true;
      Events.connected(
          begun,
          device.properties().name(),
          "connect",
          label,
          attempt.handle.toString(),
          endpoint.driver.dataCount(),
          outcome,
          cause);
    }
  }

  @Override
  public void close() {
    try (var _ = endpoint.lock.closing()) {
      if (made != null) {
        return;
      }
      SendConnection connection = attempt.connection();
      if (connection != null) {
        endpoint.connections.abort(connection);
      } else {
        tell("", "cancelled", "");
        endpoint.connections.connector().cancel(attempt);
        endpoint.progress();
      }
    }
  }
}
