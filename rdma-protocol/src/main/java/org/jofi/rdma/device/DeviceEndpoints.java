package org.jofi.rdma.device;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
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
import org.jofi.transport.diagnostics.Log;

/**
 * The endpoints of a device, opened when they are first needed, and handed out in turn: one turn
 * for receiving, and one for sending. So the first communicators of the two directions share an
 * endpoint, as the second do, and a peer that does the same is reached over one connection in both:
 * whoever waits for an answer polls where it sent. With the two on different endpoints, half a
 * round trip of 8 bytes took 1.2 to 1.7 times as long. Any thread.
 */
public final class DeviceEndpoints implements AutoCloseable {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);

  /** Most of them over some of the rails, each of which opens its NICs again. */
  private static final int MOST_PARTIAL = 32;

  private final FabricProvider provider;
  private final DeviceProfile profile;
  private final TransportOptions options;
  private final RdmaEnvironment environment;
  private final RequestNames names;
  private final AtomicLong suspicions = new AtomicLong();
  // Guarded by this object's monitor.
  private final List<DeviceEndpoint> opened = new ArrayList<>();
  private final Map<List<Integer>, DeviceEndpoint> partial = new LinkedHashMap<>();
  // By the endpoint that alone uses them, or the device's name.
  private final Map<String, DeviceNics> nics = new LinkedHashMap<>();
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
    checkOpen();
    int all = profile.progress().endpoints();
    int at = 0;
    for (int i = 0; i < all; i++) {
      at = Math.floorMod(receives ? receiving++ : sending++, all);
      if (at >= opened.size()) {
        String name = profile.properties().name();
        opened.add(open(at == 0 ? name : "%s endpoint %d".formatted(name, at), profile, at));
        return opened.getLast();
      }
      if (opened.get(at).isSound()) {
        break;
      }
    }
    return opened.get(at);
  }

  /**
   * The endpoint over some of the rails, for peers that have more or fewer. It is opened when it is
   * first needed, and stays.
   *
   * @param rails which, in the order in which they are connected
   * @param peer for whom it is opened, in words
   * @throws TransportException as {@link #next}; also if there are too many
   * @throws IllegalStateException if this is closed
   */
  public DeviceEndpoint over(List<Integer> rails, String peer) {
    DeviceEndpoint made;
    synchronized (this) {
      checkOpen();
      DeviceEndpoint known = partial.get(rails);
      if (known != null) {
        return known;
      }
      String name = profile.properties().name();
      if (nics.size() >= profile.progress().endpoints() + MOST_PARTIAL) {
        throw new TransportException(
            FailureCause.EXHAUSTED,
            "%s has opened its NICs %d times, in part for peers with other rails, and opens none again"
                .formatted(name, nics.size()));
      }
      DeviceProfile some = profile.over(rails);
      made =
          open(
              "%s over %s".formatted(name, names(some.group().rails())),
              some,
              profile.progress().endpoints() + partial.size());
      partial.put(List.copyOf(rails), made);
    }
    tell(rails, peer);
    return made;
  }

  private void tell(List<Integer> rails, String peer) {
    List<FabricInfo> all = profile.group().rails();
    List<FabricInfo> leftOut = new ArrayList<>(all);
    rails.forEach(rail -> leftOut.remove(all.get(rail)));
    String line =
        "%s: %d of its %d rails are in common with the peer at %s: %s; left out: %s"
            .formatted(
                profile.properties().name(),
                rails.size(),
                all.size(),
                peer,
                names(rails.stream().map(all::get).toList()),
                leftOut.isEmpty() ? "none, in an order of its own" : names(leftOut));
    LOG.log(Level.INFO, line);
    try {
      options.railListener().leftOut(line);
    } catch (RuntimeException thrown) {
      LOG.log(Level.WARNING, "the listener for rails failed", thrown);
    }
  }

  private static String names(List<FabricInfo> nics) {
    return nics.stream().map(FabricInfo::domainName).collect(Collectors.joining("+"));
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException(profile.properties().name() + ": the transport is closed");
    }
  }

  private DeviceEndpoint open(String label, DeviceProfile of, int number) {
    // In counters, all over the whole device have its name.
    String counted = of.equals(profile) ? profile.properties().name() : label;
    try {
      return new DeviceEndpoint(
          label,
          nics(label, of, counted, number),
          of,
          options,
          environment,
          suspicions,
          environment
              .counters()
              .endpoint(
                  counted,
                  profile.properties().index(),
                  number,
                  of.group().rails().stream().map(FabricInfo::domainName).toList()));
    } catch (FabricException | RegistrationException e) {
      throw new TransportException(
          e instanceof FabricException ? FailureCause.FABRIC : FailureCause.EXHAUSTED,
          "cannot open device %s: %s".formatted(label, e.getMessage()),
          e);
    }
  }

  /**
   * Endpoints with threads do not share domains, because a domain's lock would make the threads
   * wait for each other. Nor do they share registrations then, but what is kept of them.
   */
  private DeviceNics nics(String label, DeviceProfile of, String counted, int number) {
    boolean threads = profile.progress().threads();
    CacheOptions all = options.cache();
    int caches = threads ? profile.progress().endpoints() : 1;
    CacheOptions share =
        all.withIdleRegistrations(Math.ceilDiv(all.idleRegistrations(), caches))
            .withIdleBytes(all.idleBytes() / caches);
    return nics.computeIfAbsent(
        threads ? label : counted,
        _ ->
            new DeviceNics(
                provider,
                of.group(),
                share,
                environment,
                names,
                environment
                    .counters()
                    .registrations(counted, profile.properties().index(), number)));
  }

  public synchronized List<DeviceEndpoint> opened() {
    List<DeviceEndpoint> all = new ArrayList<>(opened);
    all.addAll(partial.values());
    return all;
  }

  /** Where memory is registered, of those that are open now. */
  public synchronized List<DeviceRegistrations> registrations() {
    return nics.values().stream().map(DeviceNics::registrations).toList();
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
    opened().forEach(endpoint -> steps.step(endpoint::close));
    if (steps.succeeded()) {
      nics.values().forEach(over -> steps.step(over::close));
    }
    steps.end();
  }
}
