package org.jofi.simulated.engine;

import java.util.ArrayDeque;
import java.util.Iterator;
import org.jofi.fabric.AddressVector;
import org.jofi.simulated.network.AddressTable;
import org.jofi.simulated.registration.RegisteredMemory;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint's posted receives, and the messages that arrived before a matching receive was
 * posted: fi_msg(3).
 */
final class PostedReceives {
  private final ArrayDeque<PostedReceive> posted = new ArrayDeque<>();
  private final ArrayDeque<PostedReceive> free = new ArrayDeque<>();
  private final ArrayDeque<Transfer> unexpected = new ArrayDeque<>();

  /** Takes a receive from the pool. */
  PostedReceive take(
      long address, long length, @Nullable RegisteredMemory region, long peer, int context) {
    PostedReceive receive = free.isEmpty() ? new PostedReceive() : free.removeLast();
    receive.address = address;
    receive.length = length;
    receive.region = region;
    receive.peer = peer;
    receive.context = context;
    return receive;
  }

  /** Returns a receive that is over to the pool. */
  void give(PostedReceive receive) {
    RegisteredMemory region = receive.region;
    if (region != null) {
      region.unuse(true);
    }
    receive.region = null;
    free.addLast(receive);
  }

  /** Posts a receive. */
  void post(PostedReceive receive) {
    posted.addLast(receive);
  }

  /** Removes and returns the first receive that a message from this peer matches. */
  @Nullable PostedReceive match(long peer) {
    // It is usually the first one, which needs no iterator.
    PostedReceive first = posted.peekFirst();
    if (first == null || takes(first, peer)) {
      return posted.pollFirst();
    }
    for (Iterator<PostedReceive> i = posted.iterator(); i.hasNext(); ) {
      PostedReceive receive = i.next();
      if (takes(receive, peer)) {
        i.remove();
        return receive;
      }
    }
    return null;
  }

  private static boolean takes(PostedReceive receive, long peer) {
    return receive.peer == AddressVector.ANY || receive.peer == peer;
  }

  /** Removes and returns the oldest message that a receive matches. */
  @Nullable Transfer takeUnexpected(PostedReceive receive, AddressTable peers) {
    if (unexpected.isEmpty() || receive.peer == AddressVector.ANY) {
      return unexpected.pollFirst();
    }
    for (Iterator<Transfer> i = unexpected.iterator(); i.hasNext(); ) {
      Transfer message = i.next();
      if (receive.peer == peers.numberOf(message.initiator().address())) {
        i.remove();
        return message;
      }
    }
    return null;
  }

  /** Removes and returns the receive with this context. */
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

  /** Keeps a message for which no receive is posted. */
  void keep(Transfer message) {
    unexpected.addLast(message);
  }

  /** The messages for which no receive was posted, oldest first. */
  ArrayDeque<Transfer> unexpected() {
    return unexpected;
  }

  /** The posted receives, oldest first. */
  ArrayDeque<PostedReceive> posted() {
    return posted;
  }
}
