package org.jofi.cli.ranks;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
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
 * The connections of a rank while they are made, all at once, since its peers wait for it, too.
 * There is a listener for each peer, so that it is known who was accepted. Closing this closes
 * listeners and attempts; what is connected stays open. For one thread.
 */
final class PeerConnections implements AutoCloseable {
  private static final Log LOG = new Log(Log.Name.RANKS);
  private final List<ListenComm> listeners = new ArrayList<>();
  private final List<ConnectAttempt> attempts = new ArrayList<>();
  private final List<Integer> incoming;
  private final List<Integer> outgoing;
  private final Map<Integer, RecvComm> accepted = new LinkedHashMap<>();
  private final Map<Integer, SendComm> connected = new LinkedHashMap<>();

  /**
   * @param incoming who connects
   * @param outgoing whom to connect to
   */
  PeerConnections(List<Integer> incoming, List<Integer> outgoing) {
    this.incoming = incoming;
    this.outgoing = outgoing;
  }

  /** Listens, and returns the handles, in the order of those who connect. */
  byte[] listen(Device device) {
    ByteBuffer handles = ByteBuffer.allocate(incoming.size() * ConnectHandle.MAX_BYTES);
    for (int i = 0; i < incoming.size(); i++) {
      ListenComm listener = device.listen();
      listeners.add(listener);
      handles.put(i * ConnectHandle.MAX_BYTES, listener.handle().encode());
    }
    return handles.array();
  }

  /**
   * Starts to connect to the next peer of the list.
   *
   * @param handles what {@link #listen} returned there
   * @param index of this rank among those who connect there
   */
  void connect(Device device, byte[] handles, int index) {
    int from = index * ConnectHandle.MAX_BYTES;
    byte[] handle = Arrays.copyOfRange(handles, from, from + ConnectHandle.MAX_BYTES);
    attempts.add(device.connect(ConnectHandle.decode(handle)));
  }

  /** Makes progress with each connection, and returns whether all are made. */
  boolean poll() {
    for (int i = 0; i < attempts.size(); i++) {
      @Nullable SendComm comm = connected.get(outgoing.get(i));
      if (comm == null) {
        comm = attempts.get(i).poll();
        if (comm != null) {
          connected.put(outgoing.get(i), comm);
        }
      }
    }
    for (int i = 0; i < listeners.size(); i++) {
      @Nullable RecvComm comm = accepted.get(incoming.get(i));
      if (comm == null) {
        comm = listeners.get(i).accept();
        if (comm != null) {
          accepted.put(incoming.get(i), comm);
        }
      }
    }
    return connected.size() == outgoing.size() && accepted.size() == incoming.size();
  }

  /** The connection to each peer. */
  Map<Integer, SendComm> connected() {
    return connected;
  }

  /** The connection from each peer. */
  Map<Integer, RecvComm> accepted() {
    return accepted;
  }

  /** Aborts what is connected, without waiting for the peers. */
  void abort() {
    connected.values().forEach(PeerConnections::abort);
    accepted.values().forEach(PeerConnections::abort);
  }

  private static void abort(Comm comm) {
    try {
      comm.abort();
    } catch (TransportException e) {
      // The reason for the failure is reported elsewhere. Closing the transport cleans up the rest.
      LOG.log(System.Logger.Level.DEBUG, "a communicator did not end in time", e);
    }
  }

  /** Ends what makes connections; if something does not end, the rest does nevertheless. */
  @Override
  public void close() {
    RuntimeException failure = close(attempts, ConnectAttempt::close, null);
    failure = close(listeners, ListenComm::close, failure);
    if (failure != null) {
      throw failure;
    }
  }

  private static <T> @Nullable RuntimeException close(
      List<T> all, Consumer<T> close, @Nullable RuntimeException earlier) {
    RuntimeException failure = earlier;
    for (T each : all) {
      try {
        close.accept(each);
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    return failure;
  }
}
