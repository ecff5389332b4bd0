package org.jofi.async;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Connections that are made, which the driver's thread looks at with each poll. Who gives a future
 * up, by cancelling it or a time limit of it, gives up what it is of.
 */
final class PendingConnections {
  private final List<Connecting> attempts = new ArrayList<>();
  private final Map<ListenComm, Deque<Accepting>> accepts = new HashMap<>();

  boolean isEmpty() {
    return attempts.isEmpty() && accepts.isEmpty();
  }

  /** How many were made or failed. */
  int poll() {
    int ended = 0;
    for (Iterator<Connecting> each = attempts.iterator(); each.hasNext(); ) {
      Connecting attempt = each.next();
      if (attempt.isOver()) {
        each.remove();
        ended++;
      }
    }
    for (Iterator<Deque<Accepting>> each = accepts.values().iterator(); each.hasNext(); ) {
      Deque<Accepting> waiting = each.next();
      // Each listener is asked once, for who has waited longest.
      while (!waiting.isEmpty() && waiting.getFirst().future.isDone()) {
        waiting.removeFirst();
        ended++;
      }
      if (!waiting.isEmpty() && waiting.getFirst().isOver()) {
        waiting.removeFirst();
        ended++;
      }
      if (waiting.isEmpty()) {
        each.remove();
      }
    }
    return ended;
  }

  void refuseAll(TransportException why) {
    attempts.forEach(attempt -> attempt.refuse(why));
    attempts.clear();
    accepts.values().forEach(waiting -> waiting.forEach(accepting -> accepting.refuse(why)));
    accepts.clear();
  }

  /** A connection that somebody waits for. */
  abstract static class Pending<A extends AsyncComm> extends Command {
    final DriverThread driver;
    final CompletableFuture<A> future = new CompletableFuture<>();

    Pending(DriverThread driver) {
      this.driver = driver;
    }

    /** Looks once; whether nothing is left to look for. */
    final boolean isOver(Supplier<? extends @Nullable Comm> look, Class<A> type) {
      try {
        Comm comm = look.get();
        if (comm == null) {
          return false;
        }
        give(type.cast(driver.adopt(comm)));
      } catch (TransportException e) {
        fail(e);
      } catch (IllegalStateException e) {
        fail(new TransportException(FailureCause.CLOSED, String.valueOf(e.getMessage()), e));
      }
      return true;
    }

    private void give(A comm) {
      driver
          .continuations()
          .execute(
              () -> {
                if (!future.complete(comm)) {
                  // It was given up at the last moment; nobody knows of the connection.
                  var _ = comm.closeAsync();
                }
              });
    }

    final void fail(TransportException why) {
      driver.continuations().execute(() -> future.completeExceptionally(why));
    }

    @Override
    void refuse(TransportException why) {
      fail(why);
    }
  }

  /** An attempt to connect. */
  static final class Connecting extends Pending<AsyncSender> {
    private final ConnectAttempt attempt;

    Connecting(DriverThread driver, ConnectAttempt attempt) {
      super(driver);
      this.attempt = attempt;
    }

    @Override
    void carryOut() {
      driver.pending.attempts.add(this);
    }

    boolean isOver() {
      if (future.isDone()) {
        attempt.close();
        return true;
      }
      boolean over = isOver(attempt::poll, AsyncSender.class);
      if (over) {
        attempt.close();
      }
      return over;
    }

    @Override
    void refuse(TransportException why) {
      attempt.close();
      super.refuse(why);
    }
  }

  /** A wait for a connector. */
  static final class Accepting extends Pending<AsyncReceiver> {
    private final ListenComm listener;

    Accepting(DriverThread driver, ListenComm listener) {
      super(driver);
      this.listener = listener;
    }

    @Override
    void carryOut() {
      driver.pending.accepts.computeIfAbsent(listener, unknown -> new ArrayDeque<>()).addLast(this);
    }

    boolean isOver() {
      return isOver(listener::accept, AsyncReceiver.class);
    }
  }
}
