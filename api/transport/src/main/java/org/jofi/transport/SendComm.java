package org.jofi.transport;

import java.lang.foreign.MemorySegment;

/** The sending side of a connection. See {@link Comm} for threads and results. */
public interface SendComm extends Comm {

  /**
   * Sends a message to the peer's next receive with this tag, in the order in which the peer posted
   * its receives. Messages with the same tag arrive in the order in which they were sent. If the
   * receive is shorter than the message, the communicator fails at both peers: {@link
   * FailureCause#TRUNCATED}.
   *
   * <p>A send may come before its receive: it waits until the peer has posted one, without a time
   * limit. It ends before only if the communicator fails or is closed, at either end, or if it is
   * {@linkplain #cancel taken back}.
   *
   * <p>A short send from host memory, up to {@link DeviceLimits#eagerBytes}, need not wait: it is
   * copied, and over once it left, before its receive. If that turns out to be shorter, the
   * communicator fails afterwards. A close, which waits for the peer, delivers what left.
   *
   * @param segment host memory, which {@link Comm} says more of
   * @param offset of the first byte, in the segment
   * @param lengthBytes 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param tag any 32 bits
   * @return a request id; {@link Result#TRY_AGAIN} if too many sends are not over and reported yet
   * @throws IllegalArgumentException if the range is not within the segment or is too long, or the
   *     segment is on the Java heap
   * @throws TransportException if it is not registered yet, and a NIC refuses it
   */
  long isend(MemorySegment segment, long offset, long lengthBytes, int tag);

  /**
   * Sends a whole segment; see {@link #isend(MemorySegment, long, long, int)}.
   *
   * @param segment host memory, up to {@link DeviceLimits#maxMessageBytes()} long
   * @param tag any 32 bits
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  default long isend(MemorySegment segment, int tag) {
    return isend(segment, 0, segment.byteSize(), tag);
  }

  /**
   * As {@link #isend(MemorySegment, long, long, int)}, from memory that is registered for {@link
   * Use#SEND}.
   *
   * @param registration of this communicator; it may be staged
   * @param offset of the first byte, in the registered memory; ignored if the length is 0
   * @param lengthBytes 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param tag any 32 bits
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  long isend(Registration registration, long offset, long lengthBytes, int tag);

  /**
   * Sends all of it; see {@link #isend(Registration, long, long, int)}.
   *
   * @param registration of this communicator, up to {@link DeviceLimits#maxMessageBytes()} long
   * @param tag any 32 bits
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  default long isend(Registration registration, int tag) {
    return isend(registration, 0, registration.lengthBytes(), tag);
  }

  /**
   * Takes back a send that waits for its receive. Its id is stale from then on, its memory is the
   * caller's again, and its receive meets the next send of the tag.
   *
   * @param request of {@link #isend}
   * @return whether it was taken back; false if it has started, or is over, or is no such send
   */
  boolean cancel(long request);
}
