package org.jofi.rdma.communicator;

import org.jofi.rdma.connect.Listener;
import org.jofi.rdma.connect.ReceiveSide;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
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
    endpoint.announce();
    synchronized (endpoint.lock()) {
      endpoint.entered();
      endpoint.checkOpen();
      listener = endpoint.connections().handshakes().listen();
      handle = endpoint.connections().handshakes().handle(listener);
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
    endpoint.announce();
    synchronized (endpoint.lock()) {
      endpoint.entered();
      if (closed) {
        throw new IllegalStateException("%s is closed".formatted(handle));
      }
      endpoint.checkOpen();
      endpoint.progress();
      ReceiveSide side = listener.accept();
      return side == null ? null : new RdmaRecvComm(device, endpoint, side);
    }
  }

  @Override
  public long refused() {
    endpoint.announce();
    synchronized (endpoint.lock()) {
      endpoint.entered();
      return listener.refused();
    }
  }

  @Override
  public void close() {
    endpoint.announceClosing();
    synchronized (endpoint.lock()) {
      endpoint.entered();
      closed = true;
      endpoint.connections().handshakes().close(listener);
    }
  }
}
