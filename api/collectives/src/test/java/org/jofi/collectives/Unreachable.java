package org.jofi.collectives;

import org.jofi.transport.CacheStatistics;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Poller;
import org.jofi.transport.TransportException;

/** A device that is there, and whose peers are not. */
record Unreachable(Device device) implements Device {
  @Override
  public DeviceProperties properties() {
    return device.properties();
  }

  @Override
  public CacheStatistics cacheStatistics() {
    return device.cacheStatistics();
  }

  @Override
  public Poller openPoller() {
    return device.openPoller();
  }

  @Override
  public ListenComm listen() {
    return device.listen();
  }

  @Override
  public ConnectAttempt connect(ConnectHandle handle) {
    throw new TransportException(FailureCause.UNAVAILABLE, "no such file");
  }
}
