package org.jofi.rdma.device;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jofi.counters.written.CounterType;
import org.jofi.counters.written.EndpointCounters;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.connect.ConnectionFactory;
import org.jofi.rdma.connect.ConnectionSettings;
import org.jofi.rdma.connect.ConnectionTable;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.driver.EndpointSettings;
import org.jofi.rdma.driver.RailChanges;
import org.jofi.rdma.engine.ReceiveProtocol;
import org.jofi.rdma.engine.Receiver;
import org.jofi.rdma.engine.SendProtocol;
import org.jofi.rdma.engine.Sender;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.schedule.RailRates;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.Features;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.diagnostics.Log;

/**
 * An endpoint of a device and its connections. Everything but {@link #isSound}, {@link #tend},
 * {@link #close}, {@link #driver}, {@link #lock}, {@link #betweenRounds} and {@link #removeTask} is
 * called with the lock held.
 */
public final class DeviceEndpoint implements ConnectionFactory, AutoCloseable {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);

  public final ConnectionTable connections;

  /** Its fixed properties and registrations may be used by any thread without the lock. */
  public final EndpointDriver driver;

  public final EndpointLock lock;
  private final RailChanges changes;
  private final List<Runnable> tasks = new CopyOnWriteArrayList<>();
  private final boolean hasThread;
  private boolean closed;

  /** Opens one; if a provider refuses, nothing stays open. */
  DeviceEndpoint(
      String label,
      DeviceNics nics,
      DeviceProfile profile,
      TransportOptions options,
      RdmaEnvironment environment,
      AtomicLong suspicions,
      EndpointCounters counters) {
    changes = new RailChanges(options.railListener());
    connections =
        new ConnectionTable(
            new ConnectionSettings(
                profile.release(),
                profile.features() | (profile.eager().isNone() ? 0 : Features.EAGER),
                profile.properties().limits().maxMessageBytes(),
                profile.eager(),
                options.connectTimeout().toNanos(),
                options.requestTimeout().toNanos(),
                options.closeTimeout().toNanos(),
                options.peerTimeout().toNanos(),
                environment.clock(),
                environment.random(),
                suspicions));
    driver =
        new EndpointDriver(
            label,
            nics.domains,
            nics.registrations(),
            new EndpointSettings(
                environment.random().getAsLong(),
                Math.min(profile.properties().controlRails(), nics.domains.size()),
                EndpointSettings.USUAL_SLOTS,
                EndpointSettings.USUAL_QUEUE_ENTRIES,
                profile.eager().packetBytes(),
                environment.pageBytes(),
                environment.clock(),
                environment.idle(),
                options.closeTimeout().toNanos(),
                () -> new RailRates(profile.group().speeds()),
                options.tuning().minStripeBytes(),
                changes,
                counters),
            connections);
    connections.attach(driver, this);
    hasThread = profile.progress().threads();
    try {
      // Last, because its thread begins at once.
      lock =
          new EndpointLock(
              label,
              options.closeTimeout(),
              environment.clock(),
              new AfterRelease(nics.registrations()),
              hasThread ? environment.executors() : null,
              this::progress,
              driver.rails::longOperations);
    } catch (RuntimeException refused) {
      try {
        end();
      } catch (RuntimeException left) {
        refused.addSuppressed(left);
      }
      throw refused;
    }
  }

  /** Makes progress, unless the endpoint's progress thread does. */
  public void help() {
    if (!lock.isDriven()) {
      progress();
    }
  }

  /**
   * As {@link org.jofi.transport.driven.DrivenComm#betweenRounds}. Any thread, without the lock.
   */
  public boolean betweenRounds(Runnable task) {
    if (hasThread) {
      tasks.add(task);
    }
    return hasThread;
  }

  /** Removes a task; it may run once more if it is about to. Any thread, without the lock. */
  public void removeTask(Runnable task) {
    tasks.remove(task);
  }

  /**
   * Whether all its rails work, as far as is known while its progress thread is copying data. Any
   * thread, without the lock.
   */
  boolean isSound() {
    try (var hold = lock.unlessBusy()) {
      return hold == null || driver.rails.brokenBy() == null;
    }
  }

  /** Makes progress; none once it is closed. */
  public int progress() {
    return closed ? 0 : connections.progress();
  }

  public void checkOpen() {
    if (closed) {
      throw new IllegalStateException(driver.label() + ": the transport is closed");
    }
  }

  /** Opens listeners for connectors with other rails. Any thread, without the lock. */
  public void serveRedirects() {
    connections
        .connector()
        .redirects()
        .serve(
            answer -> {
              // Bounded: nobody who calls this expects to wait.
              try (var _ = lock.closing()) {
                if (!closed) {
                  answer.run();
                }
              } catch (TransportException stuck) {
                LOG.log(Level.DEBUG, "a connector is not answered now, and asks again", stuck);
              }
            });
  }

  /**
   * Answers peers and checks time limits for communicators that no thread uses now; where the
   * endpoint's progress thread does it, only connectors with other rails. Any thread, without the
   * lock.
   */
  public int tend() {
    serveRedirects();
    boolean isDriven = lock.isDriven();
    driver.context.counters().all().set(CounterType.THREAD, isDriven ? 1 : 0);
    if (isDriven) {
      return 0;
    }
    try (var _ = lock.posting()) {
      if (closed) {
        return 0;
      }
      int events = connections.progress();
      connections.checkBounds();
      return events;
    }
  }

  @Override
  public SendProtocol sender(
      PeerLink link, MemorySegment mailbox, long features, long maxMessageBytes, EagerGrant eager) {
    return new Sender(link, mailbox, (features & Features.WRITE_DATA) != 0, maxMessageBytes, eager);
  }

  @Override
  public ReceiveProtocol receiver(
      PeerLink link,
      MemorySegment copy,
      Descriptors registration,
      List<MailboxTarget> targets,
      EagerGrant eager) {
    return new Receiver(link, copy, registration, targets, eager);
  }

  /**
   * Closes it within the close timeout, even if requests are in flight.
   *
   * @throws org.jofi.mr.teardown.TeardownException if something stays open
   * @throws org.jofi.transport.TransportException if its progress thread does not end; everything
   *     stays open then
   */
  @Override
  public void close() {
    lock.stopProgress();
    try (var _ = lock.rare()) {
      end();
    }
  }

  private void end() {
    closed = true;
    // Accept no more connections while it drains, since no memory can be registered for them.
    connections.refuseAll();
    driver.abort();
    connections.abandon();
  }

  /** Tells how rails are doing, settles registrations, which may take long, and calls the tasks. */
  private final class AfterRelease implements EndpointLock.Afterwards {
    private final DeviceRegistrations registrations;
    private final Consumer<Runnable> caller = this::call;

    AfterRelease(DeviceRegistrations registrations) {
      this.registrations = registrations;
    }

    @Override
    public boolean isDue() {
      return changes.isDue() || !registrations.isSettled();
    }

    @Override
    public void run() {
      tell();
      registrations.settle();
    }

    @Override
    public void betweenRounds() {
      tell();
      tasks.forEach(caller);
    }

    private void tell() {
      if (changes.isDue()) {
        changes.tell();
      }
    }

    private void call(Runnable task) {
      try {
        task.run();
      } catch (RuntimeException thrown) {
        LOG.log(Level.WARNING, "a task between rounds failed, and is called no more", thrown);
        tasks.remove(task);
      }
    }
  }
}
