package org.jofi.rdma.operation;

import java.lang.foreign.MemorySegment;

/**
 * A buffer for a message to the peer, to be filled in and sent: it goes over a control rail, now or
 * when one takes it. It is its owner's no more then.
 */
public interface Packet {

  MemorySegment memory();

  void send(int lengthBytes, SentListener who, long cookie);

  /**
   * As {@link #send}, a message about the connection itself: over the control rail on which the
   * fewest are out, since the others may be silent.
   */
  void tell(int lengthBytes, SentListener who, long cookie);

  /** Sends immediate data without a message, when queues have delivered. */
  void sendImmediate(int bits, SentListener who, long cookie);
}
