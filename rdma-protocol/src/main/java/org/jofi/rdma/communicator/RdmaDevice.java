package org.jofi.rdma.communicator;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jofi.fabric.DeviceAllocation;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.device.DeviceEndpoints;
import org.jofi.rdma.device.DeviceMemories;
import org.jofi.rdma.device.DeviceProfile;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.CacheStatistics;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Memory;
import org.jofi.transport.Poller;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/** A device, over its endpoints. Any thread. */
public final class RdmaDevice implements Device, AutoCloseable {
  /** Drivers of GPUs are asked less often, since that may slow down what the GPUs do. */
  private static final int TENDED_PER_DRIVER = 10;

  private final FabricProvider provider;
  final DeviceProfile profile;
  private final DeviceEndpoints endpoints;
  final TransportOptions options;
  final RdmaEnvironment environment;
  final DeviceMemories memories;
  // For the thread that tends.
  private int tended;

  /** Its communicators that are not closed. */
  final Set<RdmaComm> open = Collections.synchronizedSet(new LinkedHashSet<>());

  /** Those that are being made. */
  final Set<RdmaConnectAttempt> attempts = ConcurrentHashMap.newKeySet();

  /** Blocks of communicators that ended with operations in flight, until it closes. */
  final List<StagingSpace> kept = Collections.synchronizedList(new ArrayList<>());

  /** Memory that operations of ended communicators may still use. */
  final List<Object> reachable = Collections.synchronizedList(new ArrayList<>());

  /** A device of that profile, over the NICs of a provider; it opens when it is first used. */
  public RdmaDevice(
      FabricProvider provider,
      DeviceProfile profile,
      TransportOptions options,
      RdmaEnvironment environment) {
    this.provider = provider;
    this.profile = profile;
    endpoints = new DeviceEndpoints(provider, profile, options, environment, this::using);
    this.options = options;
    this.environment = environment;
    memories = new DeviceMemories(environment.deviceMemory());
  }

  @Override
  public DeviceProperties properties() {
    return profile.properties();
  }

  @Override
  public Poller openPoller() {
    return new RdmaPoller(this);
  }

  @Override
  public ListenComm listen() {
    return new RdmaListenComm(this, endpoints.next(true));
  }

  @Override
  public ConnectAttempt connect(ConnectHandle handle) {
    checkPeer(handle);
    return new RdmaConnectAttempt(this, endpoints.next(false), handle);
  }

  /** The endpoint for a peer with other rails, as {@link DeviceEndpoints#over}. */
  DeviceEndpoint over(List<Integer> rails, String peer) {
    return endpoints.over(rails, peer);
  }

  /** Refuses a listener of another protocol or provider, before a provider sees its address. */
  void checkPeer(ConnectHandle handle) {
    Optional<String> why =
        handle.protocol() != ProtocolLimits.VERSION
            ? Optional.of(
                "the listener speaks version %d of jofi's protocol, this side version %d; run one release of jofi on both"
                    .formatted(handle.protocol(), ProtocolLimits.VERSION))
            : handle.release().isUntold()
                ? Optional.empty()
                : provider.obstacle(profile.release(), handle.release());
    if (why.isPresent()) {
      throw new TransportException(
          FailureCause.INCOMPATIBLE,
          "connect to %s from device %s (%s): %s: %s"
              .formatted(
                  handle,
                  properties().name(),
                  profile.release(),
                  FailureCause.INCOMPATIBLE.words(),
                  why.get()));
    }
  }

  @Override
  public CacheStatistics cacheStatistics() {
    CacheStatistics all = new CacheStatistics(0, 0, 0, 0, 0, 0);
    for (DeviceRegistrations each : endpoints.registrations()) {
      CacheCounters.Snapshot now = each.statistics();
      all =
          all.plus(
              new CacheStatistics(
                  now.hits(),
                  now.misses(),
                  now.evictions(),
                  now.registrations(),
                  now.bytesPinned(),
                  now.registrationNs()));
    }
    return all;
  }

  /**
   * Makes progress on all its endpoints once, for communicators that no thread uses now, and closes
   * registrations that are kept of memory that was freed. Returns the number of events.
   */
  public int tend() {
    int events = 0;
    for (DeviceEndpoint endpoint : endpoints.opened()) {
      events += endpoint.tend();
    }
    attempts.removeIf(RdmaConnectAttempt::tend);
    tended++;
    boolean asksDrivers = tended % TENDED_PER_DRIVER == 0;
    for (DeviceRegistrations each : endpoints.registrations()) {
      each.closeFreed(range -> asksDrivers && isFreed(range));
    }
    return events;
  }

  /** Whether a GPU's driver no longer knows memory as the same allocation. */
  private boolean isFreed(BufferRange range) {
    Optional<DeviceMemory> gpu =
        range.kind() == MemoryKind.HOST
            ? Optional.empty()
            : memories.find(range.kind(), range.device());
    if (gpu.isEmpty()) {
      return false;
    }
    try {
      DeviceAllocation found = gpu.get().allocation(range.address());
      return found.id() != range.allocationId()
          || !found.covers(range.address(), range.lengthBytes());
    } catch (FabricException none) {
      return true;
    }
  }

  /** Where memory is registered, on its NICs as far as they are open. */
  public List<DeviceRegistrations> registrations() {
    return endpoints.registrations();
  }

  /**
   * As {@link org.jofi.transport.Transport#forget}, for its NICs.
   *
   * @throws org.jofi.mr.registration.RegistrationBusyException while requests use it
   */
  public void forget(Memory memory) {
    for (DeviceRegistrations each : endpoints.registrations()) {
      each.invalidate(memory.kind(), memory.device(), memory.address(), memory.lengthBytes());
    }
  }

  /** Names requests, as far as can be seen without any lock of theirs. */
  private List<String> using(DataRegistration registration) {
    List<String> names = new ArrayList<>();
    List.copyOf(open)
        .forEach(comm -> comm.memory.uses.names(registration.range(), comm.label(), names));
    return names;
  }

  /**
   * Begins to close its communicators, without waiting, so that their time limits, and those of
   * other devices', run at the same time.
   *
   * @throws TransportException if another thread stays in the provider
   */
  public void startClosing() {
    CloseSteps steps = new CloseSteps();
    List.copyOf(open).forEach(comm -> steps.step(comm::startClosing));
    steps.end();
  }

  /**
   * Closes its communicators, then its endpoints and NICs.
   *
   * @throws TransportException if a communicator could not be closed within its bound
   * @throws org.jofi.mr.teardown.TeardownException if something stays open
   */
  @Override
  public void close() {
    CloseSteps steps = new CloseSteps();
    steps.step(this::startClosing);
    List.copyOf(open).forEach(comm -> steps.step(comm::closeWithDevice));
    // While an endpoint stays open, its NICs can reach the blocks.
    if (steps.step(endpoints::close)) {
      kept.forEach(space -> steps.step(space::close));
      kept.clear();
      reachable.clear();
      steps.step(memories::close);
    }
    steps.end();
  }

  @Override
  public String toString() {
    return properties().name();
  }
}
