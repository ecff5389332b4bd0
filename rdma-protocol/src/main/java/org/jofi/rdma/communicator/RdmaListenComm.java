package org.jofi.rdma.communicator;

import org.jofi.rdma.connect.Listener;
import org.jofi.rdma.connect.ReceiveConnection;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.diagnostics.Events;
import org.jspecify.annotations.Nullable;

/** A listener of an endpoint. */
final class RdmaListenComm implements ListenComm {
  private final RdmaDevice device;
  private final DeviceEndpoint endpoint;
  private final Listener listener;
  private final ConnectHandle handle;
  private boolean closed;

  RdmaListenComm(RdmaDevice device, DeviceEndpoint endpoint) {
    this.device = device;
    this.endpoint = endpoint;
    try (var _ = endpoint.lock.posting()) {
      endpoint.checkOpen();
      listener = endpoint.connections.connector().listen();
      handle = endpoint.connections.connector().handle(listener);
    }
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public ConnectHandle handle() {
    return handle;
  }

  @Override
  public @Nullable RecvComm accept() {
    try (var _ = endpoint.lock.posting()) {
      if (closed) {
        throw new IllegalStateException("%s is closed".formatted(handle));
      }
      endpoint.checkOpen();
      endpoint.progress();
      ReceiveConnection connection = listener.accept();
      if (connection == null) {
        return null;
      }
      RecvComm made = new RdmaRecvComm(device, endpoint, connection);
      int rails = endpoint.driver.dataCount();
      String name = device.properties().name();
      Events.connected(null, name, "accept", made.label(), "", rails, "accepted", "");
      return made;
    }
  }

  @Override
  public long refused() {
    try (var _ = endpoint.lock.posting()) {
      return listener.refused();
    }
  }

  @Override
  public void close() {
    try (var _ = endpoint.lock.closing()) {
      closed = true;
      endpoint.connections.connector().close(listener);
    }
  }
}
