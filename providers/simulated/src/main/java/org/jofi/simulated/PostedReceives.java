package org.jofi.simulated;

import java.util.ArrayDeque;
import java.util.Iterator;
import org.jofi.fabric.AddressVector;
import org.jspecify.annotations.Nullable;

/** An endpoint's posted receives, and the messages that came before theirs: fi_msg(3). */
final class PostedReceives {
  private final ArrayDeque<PostedReceive> posted = new ArrayDeque<>();
  private final ArrayDeque<Transfer> unexpected = new ArrayDeque<>();

  /** Posts a receive. */
  void post(PostedReceive receive) {
    posted.addLast(receive);
  }

  /** Takes the first receive that a message from that peer matches. */
  @Nullable PostedReceive match(long peer) {
    for (Iterator<PostedReceive> i = posted.iterator(); i.hasNext(); ) {
      PostedReceive receive = i.next();
      if (receive.peer == AddressVector.ANY || receive.peer == peer) {
        i.remove();
        return receive;
      }
    }
    return null;
  }

  /** Takes the receive of that context out. */
  @Nullable PostedReceive cancel(int context) {
    for (Iterator<PostedReceive> i = posted.iterator(); i.hasNext(); ) {
      PostedReceive receive = i.next();
      if (receive.context == context) {
        i.remove();
        return receive;
      }
    }
    return null;
  }

  /** Keeps a message that no receive waits for. */
  void keep(Transfer message) {
    unexpected.addLast(message);
  }

  /** Messages that no receive waited for, oldest first. */
  ArrayDeque<Transfer> unexpected() {
    return unexpected;
  }

  /** Receives that wait, oldest first. */
  ArrayDeque<PostedReceive> posted() {
    return posted;
  }
}
