package org.jofi.nccl;

import org.jofi.transport.RailChange;
import org.jofi.transport.RailListener;
import org.jofi.transport.RailStatus;

/**
 * Says in NCCL's log which rails are lost and come back, and which are not used with some peers. Of
 * a peer that is lost as a whole, the requests that fail tell.
 */
record RailLog(PluginLog log) implements RailListener {
  @Override
  public void changed(RailChange change) {
    boolean lost =
        change.state() == RailStatus.State.LOST || change.state() == RailStatus.State.CLOSED;
    if (lost && change.railsUp() > 0) {
      log.warn(change.toString());
    } else {
      log.info(change.toString());
    }
  }

  @Override
  public void leftOut(String line) {
    log.info(line);
  }
}
