package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.endpoint.ArrivalSink;
import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.endpoint.OutgoingMessage;
import org.jofi.rdma.endpoint.SentListener;
import org.jofi.rdma.sequence.CommunicatorIds;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.Parties;
import org.jofi.rdma.wire.ProtocolLimits;
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
public final class EndpointConnections implements ArrivalSink {
  private final ConnectionSettings settings;
  private final CommunicatorIds ids;
  private final @Nullable Side[] sides = new @Nullable Side[ProtocolLimits.MAX_COMMUNICATOR + 1];
  private final List<Side> live = new ArrayList<>();
  private final SideEndings endings;
  private final StripeQuestions questions = new StripeQuestions();
  private final WatchedTime time;
  private @Nullable MultiRailEndpoint endpoint;
  private @Nullable Handshakes handshakes;
  private long dropped;
  private boolean refusesAll;

  public EndpointConnections(ConnectionSettings settings) {
    this.settings = settings;
    endings = new SideEndings(settings, this::release);
    time = new WatchedTime(settings.clock(), Math.min(settings.requestNs(), settings.silenceNs()));
    ids =
        new CommunicatorIds(
            ProtocolLimits.MAX_COMMUNICATOR, (int) settings.random().getAsLong() & 0xffff);
  }

  /** The endpoint that was opened with this as its sink. Once, before all else. */
  public void attach(MultiRailEndpoint opened, SideFactory factory) {
    endpoint = opened;
    endings.attach(opened);
    handshakes = new Handshakes(this, opened, settings, factory);
  }

  private MultiRailEndpoint endpoint() {
    MultiRailEndpoint attached = endpoint;
    if (attached == null) {
      throw new IllegalStateException("no endpoint yet");
    }
    return attached;
  }

  /** Where connections are made. */
  public Handshakes handshakes() {
    Handshakes attached = handshakes;
    if (attached == null) {
      throw new IllegalStateException("no endpoint yet");
    }
    return attached;
  }

  CommunicatorIds ids() {
    return ids;
  }

  void add(Side side) {
    sides[side.parties().from()] = side;
    live.add(side);
    endings.watch(side);
  }

  /** The receiving side that was made for a connector's attempt; null if there is none. */
  @Nullable ReceiveSide granted(long attempt) {
    for (Side side : live) {
      if (side instanceof ReceiveSide receiving && side.parties().attempt() == attempt) {
        return receiving;
      }
    }
    return null;
  }

  /** Whether the connection of an attempt is made, at the connector. */
  boolean stands(Parties parties) {
    Side side = sides[parties.from()];
    return side instanceof SendSide && side.parties().equals(parties);
  }

  @Override
  public void immediate(long data) {
    if (ImmediateData.check(data) == WireFault.NONE) {
      Side side = sides[ImmediateData.communicator((int) data)];
      if (side != null) {
        side.immediate((int) data);
        return;
      }
    }
    dropped++;
  }

  @Override
  public void message(MemorySegment memory, long at, long lengthBytes) {
    if (MessageHeader.check(memory, at, lengthBytes) != WireFault.NONE) {
      dropped++;
      return;
    }
    MessageType type = MessageHeader.type(memory, at);
    boolean taken =
        switch (type) {
          case null -> false;
          case CONNECT, ACCEPT, REFUSE ->
              !refusesAll && handshakes().message(type, memory, at, lengthBytes);
          default -> control(type, memory, at, lengthBytes);
        };
    if (!taken) {
      dropped++;
    }
  }

  private boolean control(MessageType type, MemorySegment memory, long at, long lengthBytes) {
    if (ControlMessage.check(memory, at, lengthBytes) != WireFault.NONE
        || !ids.isCurrent(MessageHeader.to(memory, at), MessageHeader.toGeneration(memory, at))) {
      return false;
    }
    Side side = sides[MessageHeader.to(memory, at)];
    if (side == null || !side.isFrom(memory, at)) {
      return false;
    }
    endings.heard(side);
    if (type == MessageType.PING || type == MessageType.PONG) {
      side.peerIsAt(ControlMessage.finished(memory, at), ControlMessage.seen(memory, at));
    }
    switch (type) {
      case TRUE_LENGTH ->
          side.trueLength(
              ControlMessage.number(memory, at),
              ControlMessage.subReceive(memory, at),
              ControlMessage.lengthBytes(memory, at));
      case CLOSE -> {
        if (ControlMessage.hasReason(memory, at)) {
          endings.peerAborted(side, ControlMessage.reason(memory, at));
        }
        endings.peerReturned(
            side, ControlMessage.number(memory, at), ControlMessage.writes(memory, at));
      }
      case CLOSED -> {
        if (!side.isPeerDone()) {
          endings.peerReturned(side, 0, ControlMessage.writes(memory, at));
        }
      }
      case ABORT -> {
        endings.peerAborted(side, ControlMessage.reason(memory, at));
      }
      case PING -> {
        if (side.mayAsk()) {
          endings.tell(side, MessageType.PONG);
        }
      }
      case PONG -> {
        // It shows that the peer is alive, which is recorded already.
      }
      case WRITTEN ->
          side.written(ControlMessage.number(memory, at), ControlMessage.immediate(memory, at));
      case ASK -> {
        return questions.add(side, memory, at);
      }
      case ANSWER -> {
        return side.answered(
            ControlMessage.number(memory, at),
            ControlMessage.subReceive(memory, at),
            ControlMessage.stripe(memory, at),
            ControlMessage.tries(memory, at),
            ControlMessage.arrived(memory, at));
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  @Override
  public void broken(Failure why) {
    for (int i = 0; i < live.size(); i++) {
      live.get(i).deaf(why);
    }
  }

  /**
   * Closes one side of a connection: requests in flight fail, then the peer is told. A second call
   * does nothing.
   */
  public void close(Side side) {
    endings.close(side);
  }

  /**
   * Aborts one side of a connection: the peer is told at once, and completes nothing more. Does
   * nothing if the side is aborted already or has failed.
   */
  public void abort(Side side) {
    endings.abort(side);
  }

  /** From now on makes no connections: messages of the handshake are dropped. */
  public void refuseAll() {
    refusesAll = true;
  }

  /**
   * Makes progress on the endpoint, the handshakes and connections that are ending; returns the
   * number of events.
   */
  public int progress() {
    int events = endpoint().progress() + handshakes().progress();
    if (!questions.isEmpty() && endpoint().isDrained()) {
      questions.answer(endpoint());
    }
    if (time.poll(events == 0)) {
      checkSides();
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
    checkSides();
    endings.advance();
  }

  private void checkSides() {
    long now = time.watchedNs();
    for (int i = 0; i < live.size(); i++) {
      Side side = live.get(i);
      switch (side.check(now, settings.requestNs())) {
        case Liveness.ASK -> endings.ask(side);
        case Liveness.LOST -> endings.lose(side);
        default -> {
          // The peer is alive, or nothing waits for it.
        }
      }
    }
  }

  private void release(Side side) {
    int id = side.parties().from();
    sides[id] = null;
    live.remove(side);
    side.release();
    free(id);
  }

  /** Frees an id that neither peer uses any more. */
  void free(int id) {
    ids.localClosed(id);
    ids.peerGone(id);
  }

  /**
   * Called after the endpoint was closed or aborted: ends its remaining connections, and the leases
   * of requests that were never completed. Call it before the device's registrations close; a
   * second call does nothing.
   */
  public void abandon() {
    while (!live.isEmpty()) {
      Side side = live.getLast();
      side.abandon();
      release(side);
    }
    endings.clear();
    handshakes().abandon();
  }

  /** Sends a message of the handshake to an address; whether it could. */
  boolean sendTo(
      FabricAddress address, OutgoingMessage message, int lengthBytes, SentListener listener) {
    try {
      endpoint().send(message, endpoint().controlTo(address), lengthBytes, listener, 0);
      return true;
    } catch (IllegalArgumentException | FabricException e) {
      endpoint().giveBack(message);
      return false;
    }
  }

  /**
   * Sends a message of the handshake to an address without a connection. If that fails, it is not
   * reported.
   */
  void answer(FabricAddress stranger, OutgoingMessage message, int lengthBytes) {
    try {
      endpoint().answer(message, stranger, lengthBytes);
    } catch (IllegalArgumentException | FabricException e) {
      endpoint().giveBack(message);
    }
  }

  /** How many messages were malformed or belonged to no connection. */
  public long dropped() {
    return dropped;
  }

  /** Sides that are not released. */
  public int live() {
    return ProtocolLimits.MAX_COMMUNICATOR - ids.available();
  }
}
