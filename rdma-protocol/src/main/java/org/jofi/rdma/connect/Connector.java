package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.jofi.counters.written.CounterType;
import org.jofi.fabric.FabricException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.sequence.CommunicatorIds;
import org.jofi.rdma.wire.ConnectAccept;
import org.jofi.rdma.wire.ConnectRedirect;
import org.jofi.rdma.wire.ConnectRequest;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.Handshake;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.Nonce;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.rdma.wire.WireFault;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/** Makes connections: listeners, attempts, and the messages between them. */
public final class Connector {
  /** How often a connector sends its request within the time limit. */
  private static final int ASKS = 16;

  private final ConnectionTable connections;
  final EndpointDriver endpoint;
  private final ConnectionSettings settings;
  private final ConnectionFactory factory;
  private final Acceptor acceptor;
  private final Mailboxes mailboxes;
  private final Mailboxes copies;
  private final Handshake decoder = new Handshake();
  private final List<Attempt> attempts = new ArrayList<>();

  Connector(
      ConnectionTable connections,
      EndpointDriver endpoint,
      ConnectionSettings settings,
      ConnectionFactory factory) {
    this.connections = connections;
    this.endpoint = endpoint;
    this.settings = settings;
    this.factory = factory;
    mailboxes = new Mailboxes(endpoint, true);
    copies = new Mailboxes(endpoint, false);
    acceptor = new Acceptor(connections, endpoint, settings, factory, copies);
  }

  /**
   * Listens.
   *
   * @param partial opens listeners for connectors with other rails; null to refuse such
   */
  public Listener listen(@Nullable PartialListeners partial) {
    return acceptor.listen(partial);
  }

  public ConnectHandle handle(Listener listener) {
    return acceptor.handle(listener);
  }

  /** Where connectors with other rails go. */
  public Redirects redirects() {
    return acceptor.redirects;
  }

  /** Stops listening, and aborts what was not accepted; a second call does nothing. */
  public void close(Listener listener) {
    if (acceptor.forget(listener)) {
      for (ReceiveConnection connection = listener.accept();
          connection != null;
          connection = listener.accept()) {
        connections.abort(connection);
      }
    }
  }

  /**
   * Starts to connect.
   *
   * @throws TransportException with {@link FailureCause#EXHAUSTED} if no communicator id is left,
   *     or the mailbox cannot be registered
   */
  public Attempt connect(ConnectHandle handle) {
    return connect(handle, settings.clock().nanoTime() + settings.connectNs(), false);
  }

  /**
   * Goes on at a listener that another one named, within the same time.
   *
   * @throws TransportException as {@link #connect}
   */
  public Attempt redirect(Attempt from, ConnectHandle handle) {
    return connect(handle, from.deadline, true);
  }

  private Attempt connect(ConnectHandle handle, long deadline, boolean redirected) {
    int id = connections.takeId();
    if (id == CommunicatorIds.NONE) {
      throw new TransportException(
          FailureCause.EXHAUSTED, endpoint.label() + ": every communicator id is in use");
    }
    Mailboxes.Mailbox mailbox;
    try {
      mailbox = mailboxes.take();
    } catch (RegistrationException e) {
      connections.free(id);
      throw new TransportException(
          FailureCause.EXHAUSTED, endpoint.label() + ": no mailbox for a connection", e);
    }
    ConnectRequest request =
        new ConnectRequest(
            new ConnectionId(
                0, 0, id, connections.ids.generation(id), settings.random().getAsLong()),
            endpoint.control(0).address(),
            Nonce.of(handle.nonce()),
            handle.listener(),
            settings.features(),
            settings.maxMessageBytes(),
            endpoint.addresses(),
            mailbox.targets());
    Attempt attempt =
        new Attempt(
            handle,
            request,
            mailbox,
            deadline,
            redirected,
            CommonRails.of(
                endpoint.networks().subList(0, endpoint.controlCount()),
                IntStream.range(0, handle.rails())
                    .mapToObj(rail -> FabricAddress.of(handle.address(rail)))
                    .toList()));
    attempts.add(attempt);
    return attempt;
  }

  public void cancel(Attempt attempt) {
    attempt.fail(FailureCause.CLOSED, "given up");
  }

  int attempts() {
    return attempts.size();
  }

  int progress() {
    if (attempts.isEmpty()) {
      return 0;
    }
    int events = 0;
    long now = settings.clock().nanoTime();
    for (int i = attempts.size() - 1; i >= 0; i--) {
      Attempt attempt = attempts.get(i);
      if (attempt.isOpen()) {
        request(attempt, now);
        if (attempt.isOverdue(now)) {
          attempt.fail(FailureCause.TIMED_OUT, "no answer" + attempt.trouble());
        }
      }
      Failure why = attempt.failure();
      boolean leaves = why == null && attempt.redirect != null;
      if (leaves) {
        giveBack(attempt);
      } else if (why != null) {
        giveBack(attempt);
        endpoint.context.counters().add(CounterType.CONNECTIONS_FAILED, 1);
        endpoint.context.counters().errors().add(why);
      }
      if (leaves || why != null || isGreeted(attempt)) {
        attempts.remove(i);
        events++;
      }
    }
    return events;
  }

  private void giveBack(Attempt attempt) {
    attempt.mailbox.close();
    connections.free(attempt.request.id().from());
  }

  /** Whether an attempt stands, and READY is on its way; tries to send it if it is not. */
  private boolean isGreeted(Attempt attempt) {
    SendConnection connection = attempt.connection();
    return connection != null && (connection.closing.localClosed || connections.greet(connection));
  }

  /**
   * Sends the request, repeatedly as long as no answer comes, over each control rail in turn. A
   * listener that got it before sends the same answer again, over the rail of the request.
   */
  private void request(Attempt attempt, long now) {
    int rail = attempt.due(now);
    if (rail < 0) {
      return;
    }
    Packet message = endpoint.outgoing.take(null);
    if (message == null) {
      return;
    }
    long every = settings.connectNs() / ASKS;
    attempt.asks(
        rail,
        now + (attempt.rails.own().size() == 1 ? every : Math.min(every, endpoint.railBoundNs())));
    int length = Handshake.put(message.memory(), attempt.request.over(rail));
    if (!endpoint.outgoing.sendTo(attempt.to(rail), true, rail, message, length, attempt)) {
      attempt.fail(FailureCause.INCOMPATIBLE, "no address of this fabric");
    }
  }

  /** Bytes of mailboxes and copies of mailboxes, taken or free. */
  long mailboxBytes() {
    return mailboxes.bytes() + copies.bytes();
  }

  /** The endpoint is gone, with all its connections. */
  void abandon() {
    for (Attempt attempt : attempts) {
      attempt.fail(FailureCause.CLOSED, "its endpoint was closed");
      if (attempt.connection() == null) {
        giveBack(attempt);
      }
    }
    attempts.clear();
    mailboxes.close();
    copies.close();
  }

  /** Handles a message of the handshake whose header is valid; returns whether it was expected. */
  boolean message(MessageType type, MemorySegment memory, long lengthBytes) {
    return switch (type) {
      case CONNECT -> acceptor.request(memory, lengthBytes);
      case ACCEPT -> accepted(memory, lengthBytes);
      case REDIRECT -> redirected(memory, lengthBytes);
      default -> refused(memory, lengthBytes);
    };
  }

  private @Nullable Attempt attempt(MemorySegment memory) {
    for (Attempt attempt : attempts) {
      ConnectionId asked = attempt.request.id();
      if (asked.from() == MessageHeader.to(memory)
          && asked.fromGeneration() == MessageHeader.toGeneration(memory)
          && asked.attempt() == MessageHeader.attempt(memory)
          && attempt.isOpen()) {
        return attempt;
      }
    }
    return null;
  }

  private boolean accepted(MemorySegment memory, long lengthBytes) {
    ConnectAccept accept = decoder.accept(memory, lengthBytes);
    Attempt attempt = attempt(memory);
    if (accept == null) {
      return false;
    }
    ConnectionId connectionId = accept.id().reversed();
    if (attempt == null) {
      // A request that was sent twice is accepted twice.
      if (!connections.stands(connectionId)) {
        abandon(connectionId, accept.rails());
      }
      return false;
    }
    OperationSink path = null;
    try {
      path = endpoint.path(accept.rails());
      PeerLink link = new PeerLink(path, connectionId);
      SendConnection connection =
          new SendConnection(
              attempt.mailbox::close,
              link,
              settings.silenceNs(),
              factory.sender(
                  link,
                  attempt.mailbox.memory,
                  accept.features(),
                  // A receive may be longer than any send of this side.
                  ProtocolLimits.MAX_MESSAGE_BYTES,
                  accept.eager().upTo(settings.eager().bytes())));
      connections.add(connection);
      attempt.stands(connection);
    } catch (IllegalArgumentException | FabricException e) {
      if (path != null) {
        path.release();
      }
      attempt.fail(FailureCause.INCOMPATIBLE, String.valueOf(e.getMessage()));
      abandon(connectionId, accept.rails());
    }
    return true;
  }

  /** Tells the acceptor that the connection it made is not used. */
  private void abandon(ConnectionId connectionId, RailAddresses rails) {
    answer(
        endpoint,
        rails.control().getFirst(),
        0,
        connectionId,
        MessageType.ABORT,
        0,
        FailureCause.TIMED_OUT);
  }

  /**
   * Sends a control message to an address that may not be a peer's, if there is a buffer, and
   * returns whether there was one.
   */
  static boolean answer(
      EndpointDriver endpoint,
      FabricAddress to,
      int rail,
      ConnectionId connectionId,
      MessageType type,
      long value,
      @Nullable FailureCause why) {
    Packet message = endpoint.outgoing.take(null);
    if (message == null) {
      return false;
    }
    ControlMessage.put(message.memory(), connectionId, type, 0, value, why);
    endpoint.outgoing.sendTo(to, false, rail, message, ControlMessage.BYTES, SentListener.NOBODY);
    return true;
  }

  private boolean redirected(MemorySegment memory, long lengthBytes) {
    ConnectRedirect redirect = decoder.redirect(memory, lengthBytes);
    Attempt attempt = attempt(memory);
    if (redirect == null || attempt == null) {
      return false;
    }
    if (attempt.redirected || Collections.max(redirect.rails()) >= endpoint.dataCount()) {
      attempt.fail(
          FailureCause.INCOMPATIBLE,
          attempt.redirected
              ? "the listener that it was sent to sends it on"
              : "the listener names a rail of this side that there is not");
    } else {
      attempt.redirect = redirect;
    }
    return true;
  }

  private boolean refused(MemorySegment memory, long lengthBytes) {
    Attempt attempt = attempt(memory);
    if (attempt == null || ControlMessage.check(memory, lengthBytes) != WireFault.NONE) {
      return false;
    }
    FailureCause why = ControlMessage.reason(memory);
    attempt.fail(why, refusal(why, memory));
    return true;
  }

  private String refusal(FailureCause why, MemorySegment memory) {
    int version = MessageHeader.version(memory);
    if (version != ProtocolLimits.VERSION) {
      return "the listener speaks version %d of the protocol, this side version %d"
          .formatted(version, ProtocolLimits.VERSION);
    }
    if (why == FailureCause.FABRIC) {
      return "a rail of the listener's endpoint is out of use: its completion queue broke";
    }
    String rails =
        "the listener has %d data and %d control rails, this side %d and %d"
            .formatted(
                ControlMessage.refuserDataRails(memory),
                ControlMessage.refuserControlRails(memory),
                endpoint.dataCount(),
                endpoint.controlCount());
    return why == FailureCause.EXHAUSTED
        ? rails + "; it could not open what a connection takes, and its log says why"
        : rails
            + "; let both choose as many NICs, with JOFI_NICS or JOFI_MAX_RAILS (-d or --rails of commands)";
  }
}
