package org.jofi.rdma.device;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.registration.RequestNames;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.transport.CacheOptions;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/**
 * The endpoints of a device, opened when they are first needed, and handed out in turn: one turn
 * for receiving, and one for sending. So the first communicators of the two directions share an
 * endpoint, as the second do, and a peer that does the same is reached over one connection in both:
 * whoever waits for an answer polls where it sent. With the two on different endpoints, half a
 * round trip of 8 bytes took 1.2 to 1.7 times as long. Any thread.
 */
public final class DeviceEndpoints implements AutoCloseable {
  private final FabricProvider provider;
  private final DeviceProfile profile;
  private final TransportOptions options;
  private final RdmaEnvironment environment;
  private final RequestNames names;
  private final AtomicLong suspicions = new AtomicLong();
  // Guarded by this object's monitor.
  private final List<DeviceEndpoint> opened = new ArrayList<>();
  private final List<DeviceNics> nics = new ArrayList<>();
  // How many turns there were.
  private int receiving;
  private int sending;
  private boolean closed;

  public DeviceEndpoints(
      FabricProvider provider,
      DeviceProfile profile,
      TransportOptions options,
      RdmaEnvironment environment,
      RequestNames names) {
    this.provider = provider;
    this.profile = profile;
    this.options = options;
    this.environment = environment;
    this.names = names;
  }

  /**
   * The next endpoint in turn, for receiving or for sending. One with a rail whose completion queue
   * broke is skipped as long as there is another one, since it accepts no connections.
   *
   * @throws TransportException if it cannot be opened; nothing of it stays open then
   * @throws IllegalStateException if this is closed
   */
  public synchronized DeviceEndpoint next(boolean receives) {
    if (closed) {
      throw new IllegalStateException(profile.properties().name() + ": the transport is closed");
    }
    int all = profile.progress().endpoints();
    int at = 0;
    for (int i = 0; i < all; i++) {
      at = Math.floorMod(receives ? receiving++ : sending++, all);
      if (at >= opened.size()) {
        opened.add(open());
        return opened.getLast();
      }
      if (opened.get(at).isSound()) {
        break;
      }
    }
    return opened.get(at);
  }

  private DeviceEndpoint open() {
    String name = profile.properties().name();
    try {
      return new DeviceEndpoint(
          opened.isEmpty() ? name : "%s endpoint %d".formatted(name, opened.size()),
          nics(),
          profile,
          options,
          environment,
          suspicions,
          environment
              .counters()
              .endpoint(
                  name,
                  profile.properties().index(),
                  opened.size(),
                  profile.group().rails().stream().map(FabricInfo::domainName).toList()));
    } catch (FabricException | RegistrationException e) {
      throw new TransportException(
          e instanceof FabricException ? FailureCause.FABRIC : FailureCause.EXHAUSTED,
          "cannot open device %s: %s".formatted(name, e.getMessage()),
          e);
    }
  }

  /**
   * Endpoints with threads do not share domains, because a domain's lock would make the threads
   * wait for each other. Nor do they share registrations then, but what is kept of them.
   */
  private DeviceNics nics() {
    int needed = profile.progress().threads() ? opened.size() + 1 : 1;
    if (nics.size() < needed) {
      CacheOptions all = options.cache();
      int caches = profile.progress().threads() ? profile.progress().endpoints() : 1;
      CacheOptions share =
          all.withIdleRegistrations(Math.ceilDiv(all.idleRegistrations(), caches))
              .withIdleBytes(all.idleBytes() / caches);
      nics.add(
          new DeviceNics(
              provider,
              profile.group(),
              share,
              environment,
              names,
              environment
                  .counters()
                  .registrations(
                      profile.properties().name(), profile.properties().index(), nics.size())));
    }
    return nics.getLast();
  }

  public synchronized List<DeviceEndpoint> opened() {
    return List.copyOf(opened);
  }

  /** Where memory is registered, of those that are open now. */
  public synchronized List<DeviceRegistrations> registrations() {
    return nics.stream().map(DeviceNics::registrations).toList();
  }

  /**
   * Closes endpoints, then NICs; again tries what is left.
   *
   * @throws org.jofi.mr.teardown.TeardownException if something stays open
   */
  @Override
  public synchronized void close() {
    closed = true;
    CloseSteps steps = new CloseSteps();
    opened.forEach(endpoint -> steps.step(endpoint::close));
    if (steps.succeeded()) {
      nics.forEach(over -> steps.step(over::close));
    }
    steps.end();
  }
}
