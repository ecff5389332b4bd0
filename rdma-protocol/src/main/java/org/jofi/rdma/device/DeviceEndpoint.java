package org.jofi.rdma.device;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.mr.LocalRegistration;
import org.jofi.rdma.EndpointDriver;
import org.jofi.rdma.RdmaEnvironment;
import org.jofi.rdma.connect.ConnectionSettings;
import org.jofi.rdma.connect.EndpointConnections;
import org.jofi.rdma.connect.SideFactory;
import org.jofi.rdma.endpoint.EndpointSettings;
import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.message.Connection;
import org.jofi.rdma.message.Receiver;
import org.jofi.rdma.message.Sender;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.rdma.wire.Features;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint of a device and its connections. Everything but {@link #isSound}, {@link #tend},
 * {@link #close} and what comes before the {@linkplain #lock lock} is called with it held.
 */
public final class DeviceEndpoint implements SideFactory, AutoCloseable {
  /** The wait for a driver that has already been found stuck. */
  private static final long STUCK_NS = 10_000_000;

  private final EndpointConnections connections;
  private final MultiRailEndpoint endpoint;
  private final StripeScheduler scheduler;
  private final @Nullable EndpointDriver driver;
  private final TransportOptions options;
  // Whether a close has waited for the driver in vain. Any thread.
  private volatile boolean stuck;
  private boolean closed;

  private DeviceEndpoint(
      String label,
      DeviceNics nics,
      DeviceProfile profile,
      TransportOptions options,
      RdmaEnvironment environment) {
    this.options = options;
    connections =
        new EndpointConnections(
            new ConnectionSettings(
                profile.features(),
                profile.properties().limits().maxMessageBytes(),
                options.connectTimeout().toNanos(),
                options.requestTimeout().toNanos(),
                options.closeTimeout().toNanos(),
                options.peerTimeout().toNanos(),
                environment.clock(),
                environment.random()));
    scheduler =
        new StripeScheduler(
            StripeScheduler.weightsOf(profile.group().speeds()), options.minStripeBytes());
    endpoint =
        MultiRailEndpoint.open(
            label,
            nics.domains(),
            nics.registrations(),
            new EndpointSettings(
                profile.properties().controlRails(),
                EndpointSettings.USUAL_SLOTS,
                environment.pageBytes(),
                environment.clock(),
                environment.idle(),
                options.closeTimeout().toNanos()),
            connections);
    connections.attach(endpoint, this);
    // Last, because the thread begins at once.
    driver = profile.progress().threads() ? start(environment) : null;
  }

  private EndpointDriver start(RdmaEnvironment environment) {
    try {
      return environment
          .drivers()
          .start(endpoint.label(), endpoint, this::progress, options.closeTimeout().toNanos());
    } catch (RuntimeException refused) {
      try {
        close();
      } catch (RuntimeException left) {
        refused.addSuppressed(left);
      }
      throw refused;
    }
  }

  /**
   * Opens one.
   *
   * @throws RuntimeException if a provider refuses; nothing stays open then
   */
  static DeviceEndpoint open(
      String label,
      DeviceNics nics,
      DeviceProfile profile,
      TransportOptions options,
      RdmaEnvironment environment) {
    return new DeviceEndpoint(label, nics, profile, options, environment);
  }

  /** The endpoint, whose monitor is the lock. */
  public MultiRailEndpoint lock() {
    return endpoint;
  }

  /**
   * Call this before taking the lock in rare calls, so that the driver leaves it free. Any thread.
   */
  public void ask() {
    EndpointDriver own = driver;
    if (own != null) {
      own.ask();
    }
  }

  /**
   * Call this before taking the lock in calls per message, and {@link #entered} after taking it.
   * Any thread.
   */
  public void announce() {
    EndpointDriver own = driver;
    if (own != null) {
      own.announce();
    }
  }

  /**
   * As {@link #announce}, unless the driver holds the lock for long because it is copying data.
   *
   * @return whether the caller is to go on and take the lock
   */
  public boolean announceUnlessBusy() {
    EndpointDriver own = driver;
    return own == null || own.announceUnlessBusy();
  }

  /**
   * As {@link #announceUnlessBusy}, but waits for the end of the current round, up to a time limit.
   *
   * @return whether the caller is to go on and take the lock
   */
  public boolean announceWithin(long boundNs) {
    EndpointDriver own = driver;
    return own == null || own.announceWithin(boundNs);
  }

  /**
   * As {@link #announce}, for closing. It waits for a driver that is in a call of the provider, but
   * no longer than the close timeout, and hardly at all once that has passed.
   *
   * @throws TransportException with {@code TIMED_OUT}: nothing was done
   */
  public void announceClosing() {
    stuck = !announceWithin(stuck ? STUCK_NS : options.closeTimeout().toNanos());
    if (stuck) {
      throw new TransportException(
          FailureCause.TIMED_OUT,
          "%s: its progress thread has been in the provider for %s: it stays open, close it again"
              .formatted(endpoint.label(), options.closeTimeout()));
    }
  }

  /** Call this after taking the lock that was announced. */
  public void entered() {
    EndpointDriver own = driver;
    if (own != null) {
      own.entered();
    }
  }

  /** Makes progress, unless the endpoint's driver does. */
  public void help() {
    if (!isDriven()) {
      progress();
    }
  }

  private boolean isDriven() {
    EndpointDriver own = driver;
    return own != null && !own.isResting();
  }

  /** Its connections. */
  public EndpointConnections connections() {
    return connections;
  }

  /** Whether all its rails work, or its driver is copying data. Any thread, without the lock. */
  boolean isSound() {
    if (!announceUnlessBusy()) {
      return true;
    }
    synchronized (endpoint) {
      entered();
      return endpoint.brokenBy() == null;
    }
  }

  /** Makes progress; none once it is closed. */
  public int progress() {
    return closed ? 0 : connections.progress();
  }

  /**
   * Refuses what is asked of it after its end.
   *
   * @throws IllegalStateException if it is closed
   */
  public void checkOpen() {
    if (closed) {
      throw new IllegalStateException(endpoint.label() + ": the transport is closed");
    }
  }

  /**
   * Answers peers and checks time limits for communicators that no thread uses now. Does nothing if
   * the endpoint's driver does it. Any thread, without the lock.
   */
  public int tend() {
    if (isDriven()) {
      return 0;
    }
    announce();
    synchronized (endpoint) {
      entered();
      if (closed) {
        return 0;
      }
      int events = connections.progress();
      connections.checkBounds();
      return events;
    }
  }

  @Override
  public StripeScheduler scheduler() {
    return scheduler;
  }

  @Override
  public Sender sender(
      Connection connection, MemorySegment mailbox, long features, long maxMessageBytes) {
    return new Sender(
        connection,
        mailbox,
        scheduler,
        (features & Features.WRITE_DATA) != 0,
        maxMessageBytes,
        Sender.usualSends());
  }

  @Override
  public Receiver receiver(
      Connection connection,
      MemorySegment copy,
      LocalRegistration registration,
      List<MailboxTarget> targets,
      long maxMessageBytes) {
    return new Receiver(
        connection, copy, registration, targets, maxMessageBytes, 2 * MailboxLayout.SLOTS);
  }

  /**
   * Closes it within the close timeout, even if requests are in flight.
   *
   * @throws org.jofi.mr.TeardownException if something stays open
   * @throws org.jofi.transport.TransportException if its driver does not end; everything stays open
   *     then
   */
  @Override
  public void close() {
    EndpointDriver own = driver;
    if (own != null) {
      own.close();
    }
    synchronized (endpoint) {
      closed = true;
      // Accept no more connections while it drains, since no memory can be registered for them.
      connections.refuseAll();
      endpoint.abort();
      connections.abandon();
    }
  }
}
