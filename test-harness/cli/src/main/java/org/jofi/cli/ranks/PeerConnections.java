package org.jofi.cli.ranks;

import java.util.Objects;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a rank to its neighbours in a ring while they are made, both at once, since
 * its neighbours wait for it, too. Closing this closes the listener and the attempt; what is
 * connected stays open. For one thread.
 */
final class PeerConnections implements AutoCloseable {
  private static final Log LOG = new Log(Log.Name.RANKS);
  private @Nullable ListenComm listener;
  private @Nullable ConnectAttempt attempt;
  private @Nullable RecvComm accepted;
  private @Nullable SendComm connected;

  /** Listens, and returns the handle. */
  byte[] listen(Device device) {
    ListenComm opened = device.listen();
    listener = opened;
    return opened.handle().encode();
  }

  /**
   * Starts to connect to the next rank.
   *
   * @param handle what {@link #listen} returned there
   */
  void connect(Device device, byte[] handle) {
    attempt = device.connect(ConnectHandle.decode(handle));
  }

  /** Makes progress with each connection, and returns whether both are made. */
  boolean poll() {
    if (connected == null) {
      connected = Objects.requireNonNull(attempt).poll();
    }
    if (accepted == null) {
      accepted = Objects.requireNonNull(listener).accept();
    }
    return connected != null && accepted != null;
  }

  /** The connection to the next rank, once it is made. */
  SendComm connected() {
    return Objects.requireNonNull(connected);
  }

  /** The connection from the previous rank, once it is made. */
  RecvComm accepted() {
    return Objects.requireNonNull(accepted);
  }

  /** Aborts what is connected, without waiting for the peers. */
  void abort() {
    abort(connected);
    abort(accepted);
  }

  private static void abort(@Nullable Comm comm) {
    if (comm == null) {
      return;
    }
    try {
      comm.abort();
    } catch (TransportException e) {
      // The reason for the failure is reported elsewhere. Closing the transport cleans up the rest.
      LOG.log(System.Logger.Level.DEBUG, "a communicator did not end in time", e);
    }
  }

  /** Ends what makes connections; if one does not end, the other does nevertheless. */
  @Override
  public void close() {
    try {
      if (attempt != null) {
        attempt.close();
      }
    } finally {
      if (listener != null) {
        listener.close();
      }
    }
  }
}
