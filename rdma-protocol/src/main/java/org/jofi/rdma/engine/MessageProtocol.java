package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;

/**
 * How the messages of one end of a connection move. A connection passes on what arrives for them,
 * and asks how far they are; which operations and packets they consist of is the protocol's own. By
 * default nothing of the kind arrives in its direction: what claims to is dropped.
 */
public interface MessageProtocol {

  /** Its requests, whose failure is the connection's. */
  RequestQueue requests();

  /** Immediate data arrived, checked. Called while a queue delivers. */
  default void immediate(int bits) {}

  /** A control message arrived, checked; whether it is of this protocol. */
  boolean message(MessageType type, MemorySegment memory);

  /** A packet with short messages arrived, checked; whether this end takes such. */
  default boolean packet(MemorySegment memory, long lengthBytes) {
    return false;
  }

  /**
   * Whether a stripe that the peer asks for arrived: {@link #ARRIVED}, {@link #MISSING}, or {@link
   * #UNKNOWN} if there is no such receive.
   */
  default int hasStripe(long receiveIndex, int stripe) {
    return UNKNOWN;
  }

  /** {@link #hasStripe}: it arrived. */
  int ARRIVED = 1;

  /** {@link #hasStripe}: it did not. */
  int MISSING = 0;

  /** {@link #hasStripe}: there is no such message. */
  int UNKNOWN = -1;

  /** Whether the peer stopped, and messages that it sent to the end did not arrive yet. */
  default boolean awaitsMore() {
    return false;
  }

  /** How many sends wait for a receive of the peer's. */
  default int waiting() {
    return 0;
  }

  /** How many messages this end sent to the end. */
  default long finished() {
    return 0;
  }

  /** The first receive whose entry this end does not see; 0 if it sends none. */
  default long firstUnseen() {
    return 0;
  }

  /** How many of this end's writes the peer will have seen when all have arrived. */
  long writes();

  /** How many of the peer's writes have arrived. */
  long arrived();

  /** The peer has finished so many messages, and does not see the entry of that receive. */
  default void peerIsAt(long finished, long unseen) {}

  /** The peer posts nothing more; it has sent this many messages to the end. */
  void peerStops(long messages);

  /** The completion queue of a rail broke, so that arrivals over it are not noticed any more. */
  default void queueBroke(Failure why) {}

  /** A data rail was closed, and what its queue held may be lost. */
  default void railClosed() {}

  /** What this end wrote over control rails may be lost, though it was done. */
  default void controlLost() {}
}
