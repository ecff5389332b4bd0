package org.jofi.rdma.connect;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.wire.ConnectRedirect;
import org.jofi.rdma.wire.ConnectRequest;
import org.jofi.rdma.wire.Handshake;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * Sends connectors with more or fewer rails than this endpoint to a listener over those that both
 * have. Opening that takes long, so it is not done while their request is handled.
 */
public final class Redirects {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);

  /** Connectors that wait for a listener to be opened; more ask again. */
  private static final int MOST_WAITING = 64;

  private final EndpointDriver endpoint;
  private final Acceptor acceptor;
  private final Queue<Unequal> waiting = new ConcurrentLinkedQueue<>();

  Redirects(EndpointDriver endpoint, Acceptor acceptor) {
    this.endpoint = endpoint;
    this.acceptor = acceptor;
  }

  /** A connector, and which of its rails go with which of this endpoint. */
  private record Unequal(
      Listener listener, PartialListeners partial, ConnectRequest request, CommonRails common) {

    /** The control rail to answer over, of so many: one that goes with the connector's. */
    int replyRail(int controlRails) {
      int with = common.peer().indexOf(request.rail());
      return Math.min(with < 0 ? request.rail() : common.own().get(with), controlRails - 1);
    }

    String peer() {
      return "%s, which has %d"
          .formatted(request.rails().data().getFirst(), request.rails().data().size());
    }
  }

  /** Answers a request, at once or later. Returns why it has to be refused, or null. */
  @Nullable FailureCause request(Listener listener, ConnectRequest request) {
    CommonRails common = CommonRails.of(endpoint.networks(), request.rails().data());
    boolean oneControl = request.rails().control().size() < request.rails().data().size();
    if (listener.partial == null
        || (common.own().size() > 1
            && oneControl != endpoint.controlCount() < endpoint.dataCount())) {
      return FailureCause.INCOMPATIBLE;
    }
    Unequal asked = new Unequal(listener, listener.partial, request, common);
    ConnectHandle there =
        common.own().size() == endpoint.dataCount()
            ? acceptor.handle(listener)
            : listener.opened.get(common.own());
    if (there != null) {
      answer(asked, there);
    } else if (waiting.size() < MOST_WAITING
        && waiting.stream().noneMatch(other -> other.request.id().equals(request.id()))) {
      waiting.add(asked);
    }
    return null;
  }

  /** If there is no buffer, when the connector asks again. */
  private void answer(Unequal asked, ConnectHandle there) {
    Packet answer = endpoint.outgoing.take(null);
    if (answer != null) {
      ConnectRedirect redirect =
          new ConnectRedirect(
              asked.request.id().reversed(), endpoint.dataCount(), asked.common.peer(), there);
      endpoint.outgoing.sendTo(
          asked.request.replyAddress(),
          false,
          asked.replyRail(endpoint.controlCount()),
          answer,
          Handshake.put(answer.memory(), redirect),
          SentListener.NOBODY);
    }
  }

  /** Who asked it is told so when it asks again. */
  void forget(Listener closed) {
    waiting.removeIf(asked -> asked.listener.equals(closed));
  }

  /**
   * Opens listeners that connectors wait for. Any thread, without the lock.
   *
   * @param locked runs something with the lock held, unless the endpoint is closed
   */
  public void serve(Consumer<Runnable> locked) {
    for (Unequal next = waiting.poll(); next != null; next = waiting.poll()) {
      Unequal asked = next;
      List<Integer> rails = asked.common.own();
      try {
        ConnectHandle there = asked.partial.listen(rails, asked.peer());
        locked.accept(
            () -> {
              asked.listener.opened.put(rails, there);
              answer(asked, there);
            });
      } catch (TransportException | IllegalStateException e) {
        LOG.log(
            Level.WARNING,
            "%s refuses the peer at %s: %s"
                .formatted(endpoint.label(), asked.peer(), e.getMessage()));
        locked.accept(
            () ->
                acceptor.refuse(
                    asked.listener,
                    asked.request,
                    FailureCause.EXHAUSTED,
                    asked.replyRail(endpoint.controlCount())));
      }
    }
  }
}
