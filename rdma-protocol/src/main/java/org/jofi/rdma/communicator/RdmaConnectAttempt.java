package org.jofi.rdma.communicator;

import java.util.List;
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
  // Guarded by this object's monitor, as the next.
  private DeviceEndpoint endpoint;
  private Attempt attempt;
  private @Nullable SendComm made;
  private final @Nullable ConnectionEvent begun = Events.connection();
  private boolean told;

  RdmaConnectAttempt(RdmaDevice device, DeviceEndpoint endpoint, ConnectHandle handle) {
    this.device = device;
    this.endpoint = endpoint;
    this.handle = handle;
    try (var _ = endpoint.lock.posting()) {
      endpoint.checkOpen();
      attempt = endpoint.connections.connector().connect(handle);
    }
    device.attempts.add(this);
  }

  @Override
  public ConnectHandle handle() {
    return handle;
  }

  @Override
  public synchronized @Nullable SendComm poll() {
    try (var _ = endpoint.lock.posting()) {
      if (made == null) {
        endpoint.progress();
        Failure failure = attempt.failure();
        if (failure != null) {
          tell("", "failed", failure.toString());
          throw new TransportException(failure);
        }
        SendConnection connection = attempt.connection();
        if (connection != null) {
          made = new RdmaSendComm(device, endpoint, connection);
          tell(made.label(), "connected", "");
        }
      }
    }
    tend();
    return made;
  }

  /**
   * Goes on where the listener said, if it did. The caller may wait for something else before.
   *
   * @return whether it is over
   */
  synchronized boolean tend() {
    ConnectRedirect elsewhere;
    try (var _ = endpoint.lock.posting()) {
      elsewhere = attempt.redirect();
      if (elsewhere == null) {
        return attempt.connection() != null || attempt.failure() != null;
      }
    }
    follow(elsewhere);
    return false;
  }

  /** Goes on where the listener said, over the rails that it said. */
  private void follow(ConnectRedirect to) {
    List<Integer> rails = to.rails();
    boolean all = rails.equals(IntStream.range(0, endpoint.driver.dataCount()).boxed().toList());
    String peer = "%s, which has %d".formatted(handle, to.listenerRails());
    try {
      device.checkPeer(to.handle());
      DeviceEndpoint over = all ? endpoint : device.over(rails, peer);
      try (var _ = over.lock.posting()) {
        over.checkOpen();
        attempt = over.connections.connector().redirect(attempt, to.handle());
        endpoint = over;
      }
    } catch (TransportException refused) {
      attempt.fail(refused.failure().cause(), refused.failure().detail());
    } catch (IllegalStateException closed) {
      attempt.fail(FailureCause.CLOSED, String.valueOf(closed.getMessage()));
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
          endpoint.driver.dataCount(),
          outcome,
          cause);
    }
  }

  @Override
  public synchronized void close() {
    try (var _ = endpoint.lock.closing()) {
      if (made != null) {
        return;
      }
      SendConnection connection = attempt.connection();
      if (connection != null) {
        endpoint.connections.abort(connection);
      } else {
        tell("", "cancelled", "");
        endpoint.connections.connector().cancel(attempt);
        endpoint.progress();
      }
    }
  }
}
