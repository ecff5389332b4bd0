package org.jofi.rdma.communicator;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jofi.rdma.connect.Attempt;
import org.jofi.rdma.connect.SendConnection;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.wire.ConnectRedirect;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.ConnectionEvent;
import org.jofi.transport.diagnostics.Events;
import org.jspecify.annotations.Nullable;

/** A connection being made from an endpoint, or from one over some of its rails. */
final class RdmaConnectAttempt implements ConnectAttempt {
  private final RdmaDevice device;
  private final ConnectHandle handle;
  private final AtomicBoolean following = new AtomicBoolean();
  private volatile Asking asking;
  private volatile boolean closed;
  private @Nullable SendComm made;
  private final @Nullable ConnectionEvent begun = Events.connection();
  private boolean told;

  /** Where it asks: at first from one of the device's endpoints. */
  private record Asking(DeviceEndpoint from, Attempt attempt) {}

  RdmaConnectAttempt(RdmaDevice device, DeviceEndpoint endpoint, ConnectHandle handle) {
    this.device = device;
    this.handle = handle;
    try (var _ = endpoint.lock.posting()) {
      endpoint.checkOpen();
      asking = new Asking(endpoint, endpoint.connections.connector().connect(handle));
    }
    device.attempts.add(this);
  }

  @Override
  public ConnectHandle handle() {
    return handle;
  }

  @Override
  public @Nullable SendComm poll() {
    Asking now = asking;
    try (var _ = now.from.lock.posting()) {
      if (made == null) {
        now.from.progress();
        Failure failure = now.attempt.failure();
        if (failure != null) {
          tell("", "failed", failure.toString());
          throw new TransportException(failure);
        }
        SendConnection connection = now.attempt.connection();
        if (connection != null) {
          made = new RdmaSendComm(device, now.from, connection);
          tell(made.label(), "connected", "");
        }
      }
    }
    if (tend()) {
      device.attempts.remove(this);
    }
    return made;
  }

  /**
   * Goes on where the listener said, if it did. The caller may wait for something else before. Any
   * thread; takes no lock unless there is something to do.
   *
   * @return whether it is over
   */
  boolean tend() {
    if (following.compareAndSet(false, true)) {
      try {
        Asking now = asking;
        ConnectRedirect elsewhere = now.attempt.redirect();
        if (elsewhere == null) {
          return now.attempt.isOver();
        }
        follow(now, elsewhere);
      } finally {
        following.set(false);
      }
    }
    return false;
  }

  /** Goes on where the listener said, over the rails that it said. */
  private void follow(Asking now, ConnectRedirect to) {
    List<Integer> rails = to.rails();
    boolean all = rails.equals(IntStream.range(0, now.from.driver.dataCount()).boxed().toList());
    String peer = "%s, which has %d".formatted(handle, to.listenerRails());
    try {
      device.checkPeer(to.handle());
      DeviceEndpoint over = all ? now.from : device.over(rails, peer);
      // Bounded: nobody who calls this expects to wait.
      try (var _ = over.lock.closing()) {
        over.checkOpen();
        Attempt next = over.connections.connector().redirect(now.attempt, to.handle());
        asking = new Asking(over, next);
        if (closed) {
          over.connections.connector().cancel(next);
        }
      }
    } catch (TransportException refused) {
      now.attempt.fail(refused.failure().cause(), refused.failure().detail());
    } catch (IllegalStateException transportIsClosed) {
      now.attempt.fail(FailureCause.CLOSED, String.valueOf(transportIsClosed.getMessage()));
    }
  }

  /** Once, how it ended; it may have begun before anybody recorded. */
  private void tell(String label, String outcome, String cause) {
    if (!told) {
      told = true;
      Events.connected(
          begun,
          device.properties().name(),
          "connect",
          label,
          handle.toString(),
          asking.from.driver.dataCount(),
          outcome,
          cause);
    }
  }

  @Override
  public void close() {
    closed = true;
    Asking last;
    do {
      last = asking;
      close(last);
    } while (!last.equals(asking));
  }

  private void close(Asking now) {
    DeviceEndpoint from = now.from;
    try (var _ = from.lock.closing()) {
      if (made != null) {
        return;
      }
      SendConnection connection = now.attempt.connection();
      if (connection != null) {
        from.connections.abort(connection);
      } else {
        tell("", "cancelled", "");
        from.connections.connector().cancel(now.attempt);
        from.progress();
      }
    }
  }
}
