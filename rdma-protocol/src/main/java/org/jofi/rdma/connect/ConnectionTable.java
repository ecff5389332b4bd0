package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import org.agrona.collections.Long2ObjectHashMap;
import org.jofi.counters.written.CounterType;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.sequence.CommunicatorIds;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.rdma.wire.WireFault;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one endpoint. It passes arriving messages to their connections, and ends
 * connections that close or fail. Messages that are malformed or belong to no connection are
 * counted and dropped.
 *
 * <p>{@link #progress} checks the time limits from time to time. If the application does not call
 * it for long, another thread has to call {@link #checkBounds}, or progress itself, every 100 ms or
 * so.
 */
public final class ConnectionTable implements ArrivalSink {
  private final ConnectionSettings settings;
  final CommunicatorIds ids;
  private final ById<Connection> live = new ById<>(connection -> connection.id().from());
  private final Long2ObjectHashMap<ReceiveConnection> accepted = new Long2ObjectHashMap<>();
  private final ClosedConnections closed = new ClosedConnections();
  private final ClosingConnections endings;
  private final StripeQuestions questions = new StripeQuestions();
  private final WatchedTime time;
  private @Nullable Connector connector;
  private boolean refusesAll;

  public ConnectionTable(ConnectionSettings settings) {
    this.settings = settings;
    endings = new ClosingConnections(settings, this::released);
    time = new WatchedTime(settings.clock(), Math.min(settings.requestNs(), settings.silenceNs()));
    ids =
        new CommunicatorIds(
            ProtocolLimits.MAX_COMMUNICATOR, (int) settings.random().getAsLong() & 0xffff);
  }

  /** The endpoint that was opened with this as its sink. Once, before all else. */
  public void attach(EndpointDriver opened, ConnectionFactory factory) {
    if (opened.dataCount() > 1) {
      time.watchRails(opened.railBoundNs());
    }
    connector = new Connector(this, opened, settings, factory);
  }

  public Connector connector() {
    Connector attached = connector;
    if (attached == null) {
      throw new IllegalStateException("no endpoint yet");
    }
    return attached;
  }

  int takeId() {
    int id = ids.take();
    if (id != CommunicatorIds.NONE) {
      closed.forget(id);
    }
    return id;
  }

  void add(Connection connection) {
    live.add(connection);
    if (connection instanceof ReceiveConnection receiving) {
      accepted.putIfAbsent(connection.id().attempt(), receiving);
    }
    endings.watch(connection);
    connection.link.endpoint.counters().add(CounterType.CONNECTIONS_MADE, 1);
  }

  /** Tells the acceptor that this side knows it; whether there was a buffer. */
  boolean greet(SendConnection connection) {
    return endings.tell(connection, MessageType.READY);
  }

  /** The receiving side that was made for a connector's attempt; null if there is none. */
  @Nullable ReceiveConnection accepted(long attempt) {
    return accepted.get(attempt);
  }

  /** Whether the connection of an attempt is made, at the connector. */
  boolean stands(ConnectionId connectionId) {
    Connection connection = live.of(connectionId.from());
    return connection instanceof SendConnection && connection.id().equals(connectionId);
  }

  @Override
  public void immediate(long data) {
    if (ImmediateData.check(data) == WireFault.NONE) {
      Connection connection = live.of(ImmediateData.communicator((int) data));
      if (connection != null) {
        connection.protocol.immediate((int) data);
        return;
      }
    }
    drop();
  }

  @Override
  public void message(MemorySegment memory, long lengthBytes) {
    if (MessageHeader.check(memory, lengthBytes) != WireFault.NONE) {
      drop();
      return;
    }
    MessageType type = MessageHeader.type(memory);
    boolean taken =
        switch (type) {
          case null -> false;
          case CONNECT, ACCEPT, REFUSE, REDIRECT ->
              !refusesAll && connector().message(type, memory, lengthBytes);
          case EAGER -> packet(memory, lengthBytes);
          case RAIL_UPDATE -> railUpdate(memory, lengthBytes);
          default -> control(type, memory, lengthBytes);
        };
    if (!taken) {
      drop();
    }
  }

  /** The connection that a message is of, which is heard with it; null if it is of none. */
  private @Nullable Connection hear(MemorySegment memory) {
    Connection connection = live.of(MessageHeader.to(memory));
    if (connection == null || !MessageHeader.isOf(memory, connection.id())) {
      return null;
    }
    connection.hear();
    return connection;
  }

  private boolean packet(MemorySegment memory, long lengthBytes) {
    Connection connection =
        EagerPacket.check(memory, lengthBytes) == WireFault.NONE ? hear(memory) : null;
    return connection != null && connection.protocol.packet(memory, lengthBytes);
  }

  private boolean railUpdate(MemorySegment memory, long lengthBytes) {
    Connection connection =
        RailUpdate.check(memory, lengthBytes) == WireFault.NONE ? hear(memory) : null;
    if (connection == null || !connection.link.sink.peer().told(RailUpdate.read(memory))) {
      return false;
    }
    sendUpdates(connection);
    return true;
  }

  /**
   * Sends the peer of a connection what it is to be told of its rails. What is lost for lack of a
   * buffer comes again.
   */
  private static void sendUpdates(Connection connection) {
    OperationSink sink = connection.link.sink;
    for (RailUpdate update = sink.peer().takeUpdate();
        update != null;
        update = sink.peer().takeUpdate()) {
      Packet message = sink.takePacket();
      if (message == null) {
        return;
      }
      int bytes = update.put(message.memory(), connection.id());
      if (update.kind() == RailUpdate.Kind.NOTICE) {
        message.tell(bytes, SentListener.NOBODY, 0);
      } else {
        sink.peer().sendOver(update.rail(), message, bytes);
      }
    }
  }

  private boolean control(MessageType type, MemorySegment memory, long lengthBytes) {
    if (ControlMessage.check(memory, lengthBytes) != WireFault.NONE) {
      return false;
    }
    Connection connection = hear(memory);
    if (connection == null) {
      return type == MessageType.CLOSE && closed.answer(connector().endpoint, memory);
    }
    if (type == MessageType.PING || type == MessageType.PONG) {
      connection.protocol.peerIsAt(ControlMessage.number(memory), ControlMessage.value(memory));
    }
    switch (type) {
      case CLOSE -> {
        if (ControlMessage.hasReason(memory)) {
          endings.peerAborted(connection, ControlMessage.reason(memory));
        }
        endings.peerReturned(
            connection, ControlMessage.number(memory), ControlMessage.value(memory));
      }
      case CLOSED -> {
        if (!connection.closing.peerDone) {
          endings.peerReturned(connection, 0, ControlMessage.value(memory));
        }
      }
      case ABORT -> endings.peerAborted(connection, ControlMessage.reason(memory));
      case PING -> endings.ask(connection, MessageType.PONG);
      case PONG, READY -> {
        // It shows that the peer is alive and knows this side, which is recorded already.
      }
      case ASK -> {
        return questions.add(connection, memory);
      }
      default -> {
        return connection.protocol.message(type, memory);
      }
    }
    return true;
  }

  @Override
  public void broken(Failure why) {
    for (int i = 0; i < live.size(); i++) {
      live.get(i).protocol.queueBroke(why);
    }
  }

  @Override
  public void railClosed() {
    for (int i = 0; i < live.size(); i++) {
      live.get(i).protocol.railClosed();
    }
  }

  /** Closes one side of a connection; a second call does nothing. */
  public void close(Connection connection) {
    endings.close(connection);
  }

  /** Aborts one side of a connection, unless it is aborted already or has failed. */
  public void abort(Connection connection) {
    endings.abort(connection);
  }

  /** From now on makes no connections: messages of the handshake are dropped. */
  public void refuseAll() {
    refusesAll = true;
  }

  /** Makes progress on the endpoint, handshakes and endings; returns the number of events. */
  public int progress() {
    Connector making = connector();
    EndpointDriver endpoint = making.endpoint;
    int events = endpoint.progress() + making.progress();
    if (!questions.isEmpty() && endpoint.rails.isDrained()) {
      questions.answer();
    }
    if (time.poll(events == 0)) {
      look(endpoint);
    }
    return events + endings.advance();
  }

  /**
   * Reads the clock, and fails everything whose time limit has passed. For callers that do not call
   * progress for long.
   */
  public void checkBounds() {
    progress();
    time.look();
    look(connector().endpoint);
    endings.advance();
  }

  /** Looks what peers and connections owe, and what they are to be told. */
  private void look(EndpointDriver endpoint) {
    long now = time.watchedNs;
    endpoint.peers.lookWhetherAlive(now, settings.suspicions().get(), settings.closeNs());
    if (endpoint.dataCount() > 1) {
      endpoint.peers.look(time.railNs);
    }
    for (int i = 0; i < live.size(); i++) {
      Connection connection = live.get(i);
      if (connection.mayAsk() && connection.link.sink.peer().takeQuestion()) {
        // Over two control rails, of which one may be silent.
        endings.ask(connection, MessageType.PING);
        endings.ask(connection, MessageType.PING);
      }
      if (connection.link.sink.takeControlLoss()) {
        connection.protocol.controlLost();
      }
      sendUpdates(connection);
      switch (connection.check(now, settings.requestNs())) {
        case ASK -> endings.ask(connection, MessageType.PING);
        case LOST -> endings.lose(connection);
        // The peer is alive, or nothing waits for it.
        case SOUND -> lookForStall(connection, now);
      }
    }
    EndpointGauges.write(endpoint, live, connector().attempts());
  }

  private void lookForStall(Connection connection, long now) {
    Failure stall = connection.link.sink.peer().stall(now, settings.silenceNs());
    if (stall != null && connection.failure() == null && !connection.isQuiet()) {
      endings.lose(connection, stall);
    }
  }

  private void released(Connection connection) {
    release(connection);
    closed.add(connection);
  }

  private void release(Connection connection) {
    int id = connection.id().from();
    live.remove(id);
    long attempt = connection.id().attempt();
    ReceiveConnection made = accepted.get(attempt);
    if (made != null && made.id().equals(connection.id())) {
      accepted.remove(attempt);
    }
    connection.release();
    free(id);
  }

  /** Frees an id that neither peer uses any more. */
  void free(int id) {
    ids.free(id);
  }

  /**
   * Called after the endpoint was closed or aborted: ends its remaining connections, and the leases
   * of requests that were never completed. Call it before the device's registrations close; a
   * second call does nothing.
   */
  public void abandon() {
    while (!live.isEmpty()) {
      Connection connection = live.get(live.size() - 1);
      connection.abandon();
      release(connection);
    }
    endings.abandon();
    closed.clear();
    connector().abandon();
  }

  /** How many messages were malformed or belonged to no connection. */
  public long dropped() {
    return connector().endpoint.context.counters().all().get(CounterType.ARRIVALS_DROPPED);
  }

  private void drop() {
    Connector attached = connector;
    if (attached != null) {
      attached.endpoint.context.counters().add(CounterType.ARRIVALS_DROPPED, 1);
    }
  }

  /** Sides that are not released. */
  public int live() {
    return ProtocolLimits.MAX_COMMUNICATOR - ids.available();
  }
}
