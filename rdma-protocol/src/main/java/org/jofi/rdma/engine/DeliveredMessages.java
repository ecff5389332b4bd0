package org.jofi.rdma.engine;

import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MessageType;

/**
 * The last messages that were sent to the end: all of their bytes are in the memory of their
 * receives, whether the receiver was told of it or not: each write was made to complete on
 * delivery.
 */
final class DeliveredMessages {
  private static final long NONE = 0;

  private long[] indices = new long[0];
  private long[] lengths = new long[0];

  void add(long receiveIndex, long lengthBytes) {
    if (indices.length == 0) {
      // Not before: many connections are idle.
      indices = new long[MailboxLayout.ENTRIES];
      lengths = new long[MailboxLayout.ENTRIES];
    }
    int slot = (int) receiveIndex & MailboxLayout.ENTRIES - 1;
    indices[slot] = receiveIndex;
    lengths[slot] = lengthBytes;
  }

  /** Tells the receiver of what went to receives from that one on, as far as there are buffers. */
  void tell(PeerLink link, long from) {
    for (int slot = 0; slot < indices.length; slot++) {
      if (indices[slot] != NONE
          && indices[slot] >= from
          && !link.tell(MessageType.ARRIVED, indices[slot], lengths[slot])) {
        return;
      }
    }
  }
}
