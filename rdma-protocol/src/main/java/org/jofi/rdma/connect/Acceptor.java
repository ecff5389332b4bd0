package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jofi.counters.written.CounterType;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.ProviderRelease;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.sequence.CommunicatorIds;
import org.jofi.rdma.wire.ConnectAccept;
import org.jofi.rdma.wire.ConnectRequest;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.Features;
import org.jofi.rdma.wire.Handshake;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.Nonce;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.rdma.wire.WireFault;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.FailureCause;
import org.jofi.transport.diagnostics.Events;
import org.jspecify.annotations.Nullable;

/** The listener's half of the handshake: it accepts or refuses connection requests. */
final class Acceptor {
  /** Attempts that are remembered, so that a late request makes no second connection. */
  private static final int REMEMBERED = 4096;

  private final ConnectionTable connections;
  private final EndpointDriver endpoint;
  private final ConnectionSettings settings;
  private final ConnectionFactory factory;
  private final Mailboxes copies;
  private final Handshake decoder = new Handshake();
  private final Map<Long, Listener> listeners = new HashMap<>();
  private final LinkedHashSet<Long> known = new LinkedHashSet<>();
  final Redirects redirects;
  private long lastListener;

  Acceptor(
      ConnectionTable connections,
      EndpointDriver endpoint,
      ConnectionSettings settings,
      ConnectionFactory factory,
      Mailboxes copies) {
    this.connections = connections;
    this.endpoint = endpoint;
    this.settings = settings;
    this.factory = factory;
    this.copies = copies;
    redirects = new Redirects(endpoint, this);
  }

  Listener listen(@Nullable PartialListeners partial) {
    Listener listener =
        new Listener(
            ++lastListener,
            new Nonce(settings.random().getAsLong(), settings.random().getAsLong()),
            partial);
    listeners.put(listener.number, listener);
    return listener;
  }

  ConnectHandle handle(Listener listener) {
    List<byte[]> addresses =
        endpoint.addresses().control().stream().map(FabricAddress::bytes).toList();
    int length = addresses.getFirst().length;
    ProviderRelease release = settings.release();
    int room = ConnectHandle.MAX_ADDRESS_BYTES - release.provider().length();
    ProviderRelease told = length <= room ? release : ProviderRelease.UNTOLD;
    // Of the first one's length, as many as there is room for.
    return ConnectHandle.of(
        listener.number,
        listener.nonce.bytes(),
        addresses.stream()
            .takeWhile(address -> address.length == length)
            .limit((ConnectHandle.MAX_ADDRESS_BYTES - told.provider().length()) / length)
            .toList(),
        ProtocolLimits.VERSION,
        told);
  }

  boolean forget(Listener listener) {
    redirects.forget(listener);
    return listeners.remove(listener.number) != null;
  }

  /** Handles a connection request whose header is valid; returns whether it was accepted. */
  boolean request(MemorySegment memory, long lengthBytes) {
    ConnectRequest request = decoder.request(memory, lengthBytes);
    if (request == null) {
      if (decoder.fault() == WireFault.VERSION) {
        FabricAddress reply = decoder.replyAddress(memory, lengthBytes);
        if (reply != null) {
          refuse(reply, 0, MessageHeader.connectionId(memory), FailureCause.INCOMPATIBLE);
        }
      }
      return false;
    }
    long attempt = request.id().attempt();
    if (known.contains(attempt) || connections.accepted(attempt) != null) {
      return acceptAgain(request);
    }
    Listener listener = listeners.get(request.listener());
    FailureCause why =
        listener != null && listener.nonce.equals(request.nonce())
            ? request.rails().data().size() == endpoint.dataCount()
                ? accept(listener, request)
                : redirects.request(listener, request)
            : FailureCause.REFUSED;
    if (why != null) {
      refuse(listener, request, why, Math.min(request.rail(), endpoint.controlCount() - 1));
    }
    return why == null;
  }

  void refuse(@Nullable Listener listener, ConnectRequest request, FailureCause why, int rail) {
    if (listener != null) {
      listener.refused++;
    }
    refuse(request.replyAddress(), rail, request.id(), why);
    Events.connected(
        null, endpoint.label(), "accept", "", "", endpoint.dataCount(), "refused", why.name());
  }

  /**
   * Handles a repeated request, which was accepted already: the answer may be lost. Returns whether
   * it is answered again.
   */
  private boolean acceptAgain(ConnectRequest request) {
    ReceiveConnection connection = connections.accepted(request.id().attempt());
    return connection != null
        && connection.id().to() == request.id().from()
        && connection.id().toGeneration() == request.id().fromGeneration()
        && connection.mayAnswerAgain()
        && answer(request, connection);
  }

  /**
   * Answers that a connection is made; if there is no buffer, when the connector asks again. False
   * if its address is none.
   */
  private boolean answer(ConnectRequest request, ReceiveConnection connection) {
    Packet answer = endpoint.outgoing.take(null);
    return answer == null
        || endpoint.outgoing.sendTo(
            request.replyAddress(),
            true,
            request.rail(),
            answer,
            Handshake.put(answer.memory(), connection.accept),
            SentListener.NOBODY);
  }

  /** Makes the receiving side and answers. Returns why it could not, or null. */
  private @Nullable FailureCause accept(Listener listener, ConnectRequest request) {
    long features = features(request);
    if (!Features.suffice(features)) {
      return FailureCause.INCOMPATIBLE;
    }
    if (endpoint.rails.brokenBy() != null) {
      // Stripes would arrive over a rail whose completion queue is broken.
      return FailureCause.FABRIC;
    }
    int id = connections.takeId();
    if (id == CommunicatorIds.NONE) {
      return FailureCause.EXHAUSTED;
    }
    ConnectionId asked = request.id();
    ConnectionId connectionId =
        new ConnectionId(
            asked.from(),
            asked.fromGeneration(),
            id,
            connections.ids.generation(id),
            asked.attempt());
    long most = Math.min(request.maxMessageBytes(), settings.maxMessageBytes());
    Mailboxes.Mailbox copy = null;
    OperationSink path = null;
    try {
      path = endpoint.path(request.rails());
      PeerLink link = new PeerLink(path, connectionId);
      link.awaitPeer();
      copy = copies.take();
      EagerGrant eager =
          (features & Features.EAGER) == 0
              ? EagerGrant.NONE
              : settings.eager().among(connections.live());
      ConnectAccept accept =
          new ConnectAccept(connectionId, features, most, endpoint.addresses(), eager);
      ReceiveConnection connection =
          new ReceiveConnection(
              copy::close,
              link,
              factory.receiver(link, copy.memory, copy.local(), request.mailbox(), eager),
              accept,
              settings.silenceNs());
      connections.add(connection);
      known.add(asked.attempt());
      if (known.size() > REMEMBERED) {
        known.removeFirst();
      }
      if (answer(request, connection)) {
        listener.arrived.addLast(connection);
      } else {
        connections.abort(connection);
      }
      return null;
    } catch (IllegalArgumentException | FabricException | RegistrationException e) {
      if (copy != null) {
        copy.close();
      }
      if (path != null) {
        path.release();
      }
      connections.free(id);
      return e instanceof RegistrationException
          ? FailureCause.EXHAUSTED
          : FailureCause.INCOMPATIBLE;
    }
  }

  /** What both sides can do, and the connection between them. */
  private long features(ConnectRequest request) {
    long common = Features.common(request.features(), settings.features());
    boolean writesData =
        endpoint.traits().writesDataToItself()
            || request.rails().endpoint() != endpoint.addresses().endpoint();
    return writesData ? common : common & ~Features.WRITE_DATA;
  }

  private void refuse(FabricAddress to, int rail, ConnectionId asked, FailureCause why) {
    endpoint.context.counters().add(CounterType.CONNECTIONS_REFUSED, 1);
    long rails = ControlMessage.ofRails(endpoint.dataCount(), endpoint.controlCount());
    Connector.answer(endpoint, to, rail, asked.reversed(), MessageType.REFUSE, rails, why);
  }
}
