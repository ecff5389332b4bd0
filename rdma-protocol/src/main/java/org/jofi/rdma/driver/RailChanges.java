package org.jofi.rdma.driver;

import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailListener;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.Log;

/**
 * What an endpoint has to tell of its rails: to the log, to JFR, and to who listens. It is told
 * without the lock, because whoever listens may take time, or use the endpoint.
 */
public final class RailChanges {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);

  private final RailListener listener;
  private final Queue<RailChange> untold = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean telling = new AtomicBoolean();
  private volatile boolean due;

  public RailChanges(RailListener listener) {
    this.listener = listener;
  }

  void add(RailChange change) {
    untold.add(change);
    due = true;
  }

  /** Finds which rails came to be used, or are not any more. With the endpoint's lock held. */
  void compare(PeerRails rails, RailChange.Role role, String peer, long now) {
    for (int number = 0; number < rails.count(); number++) {
      PeerRail rail = rails.rail(number);
      if (rail.isNews(now)) {
        add(
            new RailChange(
                rail.label(peer),
                role,
                number,
                rail.port.nic(),
                rail.state().shown(),
                Optional.ofNullable(rail.cause()),
                Integer.bitCount(rails.usable()),
                rails.count()));
      }
    }
  }

  /** Whether something is to be told. Any thread. */
  public boolean isDue() {
    return due;
  }

  /** Tells it, in order, unless another thread does. Without the lock. */
  public void tell() {
    if (!telling.compareAndSet(false, true)) {
      return;
    }
    try {
      due = false;
      for (RailChange change = untold.poll(); change != null; change = untold.poll()) {
        tell(change);
      }
    } finally {
      telling.set(false);
    }
  }

  private void tell(RailChange change) {
    LOG.log(level(change), change.toString());
    Events.railChanged(
        change.where(),
        change.role().name(),
        change.rail(),
        change.nic(),
        change.state().name(),
        change.cause().map(why -> why.cause() + ": " + why.detail()).orElse(""),
        change.railsUp(),
        change.rails());
    try {
      listener.changed(change);
    } catch (RuntimeException thrown) {
      LOG.log(Level.WARNING, "the listener for rails failed", thrown);
    }
  }

  private static Level level(RailChange change) {
    return switch (change.state()) {
      case UP -> Level.INFO;
      case REOPENING -> Level.DEBUG;
      // Of a peer that is lost as a whole, the requests that fail tell.
      case LOST, CLOSED -> change.railsUp() == 0 ? Level.DEBUG : Level.WARNING;
    };
  }
}
