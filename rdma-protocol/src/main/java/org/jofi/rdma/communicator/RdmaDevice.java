package org.jofi.rdma.communicator;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.device.DeviceEndpoints;
import org.jofi.rdma.device.DeviceMemories;
import org.jofi.rdma.device.DeviceProfile;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.ListenComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/** A device, over its endpoints. Any thread. */
public final class RdmaDevice implements Device, AutoCloseable {
  private final DeviceProfile profile;
  private final DeviceEndpoints endpoints;
  private final TransportOptions options;
  private final RdmaEnvironment environment;
  private final DeviceMemories memories;
  // Guarded by itself.
  private final Set<RdmaComm> open = new LinkedHashSet<>();
  private final List<StagingSpace> kept = new ArrayList<>();
  private final List<RdmaRegistration> reachable = new ArrayList<>();

  /** A device of that profile; it opens when it is first used. */
  public RdmaDevice(
      DeviceProfile profile,
      DeviceEndpoints endpoints,
      TransportOptions options,
      RdmaEnvironment environment) {
    this.profile = profile;
    this.endpoints = endpoints;
    this.options = options;
    this.environment = environment;
    memories = new DeviceMemories(environment.deviceMemory());
  }

  @Override
  public DeviceProperties properties() {
    return profile.properties();
  }

  @Override
  public ListenComm listen() {
    return new RdmaListenComm(this, endpoints.next());
  }

  @Override
  public ConnectAttempt connect(ConnectHandle handle) {
    return new RdmaConnectAttempt(this, endpoints.next(), handle);
  }

  /**
   * Makes progress on all its endpoints once, for communicators that no thread uses now. Returns
   * the number of events.
   */
  public int tend() {
    int events = 0;
    for (DeviceEndpoint endpoint : endpoints.opened()) {
      events += endpoint.tend();
    }
    return events;
  }

  TransportOptions options() {
    return options;
  }

  RdmaEnvironment environment() {
    return environment;
  }

  DeviceMemories memories() {
    return memories;
  }

  /** Whether its NICs say that they take device memory. */
  boolean takesDeviceMemory() {
    return profile.takesDeviceMemory();
  }

  /**
   * Takes over blocks of a communicator that ended with operations in flight; the device closes
   * them.
   */
  void keep(List<StagingSpace> left) {
    synchronized (open) {
      kept.addAll(left);
    }
  }

  /**
   * Keeps the memory of registrations reachable until the NICs are closed, because operations of a
   * communicator that ended may still use it.
   */
  void keepReachable(Collection<RdmaRegistration> left) {
    synchronized (open) {
      reachable.addAll(left);
    }
  }

  void opened(RdmaComm comm) {
    synchronized (open) {
      open.add(comm);
    }
  }

  void closed(RdmaComm comm) {
    synchronized (open) {
      open.remove(comm);
    }
  }

  /**
   * Closes its communicators, then its endpoints and NICs.
   *
   * @throws TransportException if a communicator could not be closed within its bound
   * @throws org.jofi.mr.teardown.TeardownException if something stays open
   */
  @Override
  public void close() {
    List<RdmaComm> left;
    synchronized (open) {
      left = new ArrayList<>(open);
    }
    // Start closing all of them first, so that their time limits run at the same time.
    CloseSteps steps = new CloseSteps();
    left.forEach(comm -> steps.step(comm::startClosing));
    left.forEach(comm -> steps.step(comm::close));
    // While an endpoint stays open, its NICs can reach the blocks.
    if (steps.step(endpoints::close)) {
      synchronized (open) {
        kept.forEach(space -> steps.step(space::close));
        kept.clear();
        reachable.clear();
      }
      steps.step(memories::close);
    }
    steps.end();
  }

  @Override
  public String toString() {
    return properties().name();
  }
}
