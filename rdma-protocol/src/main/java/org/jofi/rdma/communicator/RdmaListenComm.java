package org.jofi.rdma.communicator;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jofi.rdma.connect.Connector;
import org.jofi.rdma.connect.Listener;
import org.jofi.rdma.connect.PartialListeners;
import org.jofi.rdma.connect.ReceiveConnection;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.diagnostics.Events;
import org.jspecify.annotations.Nullable;

/** A listener of an endpoint, and those over some of its rails for peers with others. */
final class RdmaListenComm implements ListenComm, PartialListeners {
  private final RdmaDevice device;

  /** The first is that of the handle. */
  private final List<Place> places = new CopyOnWriteArrayList<>();

  private volatile boolean closed;

  /** An endpoint's listener. */
  private record Place(DeviceEndpoint endpoint, Listener listener, ConnectHandle handle) {

    static Place of(DeviceEndpoint endpoint, @Nullable PartialListeners partial) {
      try (var _ = endpoint.lock.posting()) {
        endpoint.checkOpen();
        Connector connector = endpoint.connections.connector();
        Listener listener = connector.listen(partial);
        return new Place(endpoint, listener, connector.handle(listener));
      }
    }
  }

  RdmaListenComm(RdmaDevice device, DeviceEndpoint endpoint) {
    this.device = device;
    places.add(Place.of(endpoint, this));
  }

  @Override
  public synchronized ConnectHandle listen(List<Integer> rails, String peer) {
    checkOpen();
    DeviceEndpoint over = device.over(rails, peer);
    for (Place place : places) {
      if (place.endpoint.equals(over)) {
        return place.handle;
      }
    }
    Place added = Place.of(over, null);
    places.add(added);
    return added.handle;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("%s is closed".formatted(handle()));
    }
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public ConnectHandle handle() {
    return places.getFirst().handle;
  }

  @Override
  public @Nullable RecvComm accept() {
    checkOpen();
    places.getFirst().endpoint.serveRedirects();
    for (Place place : places) {
      RecvComm made = accept(place);
      if (made != null) {
        return made;
      }
    }
    return null;
  }

  private @Nullable RecvComm accept(Place place) {
    DeviceEndpoint endpoint = place.endpoint;
    try (var _ = endpoint.lock.posting()) {
      endpoint.checkOpen();
      endpoint.progress();
      ReceiveConnection connection = place.listener.accept();
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
    long refused = 0;
    for (Place place : places) {
      try (var _ = place.endpoint.lock.posting()) {
        refused += place.listener.refused();
      }
    }
    return refused;
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    for (Place place : places) {
      try (var _ = place.endpoint.lock.closing()) {
        place.endpoint.connections.connector().close(place.listener);
      }
    }
  }
}
