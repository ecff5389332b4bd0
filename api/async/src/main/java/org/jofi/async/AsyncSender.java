package org.jofi.async;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.DeviceLimits;
import org.jofi.transport.Registration;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;

/** The sending side of a connection that a driver owns; see {@link AsyncComm}. */
public interface AsyncSender extends AsyncComm {

  /**
   * Sends a message, as {@link SendComm#isend(MemorySegment, long, long, int)}. It may come before
   * its receive, and waits inside until the peer has posted one.
   *
   * @param segment host memory, not of a confined arena
   * @param offset of the first byte, in the segment
   * @param lengthBytes 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param tag any 32 bits
   * @return the request: the number of bytes sent
   * @throws IllegalArgumentException if the range is not within the segment or is too long, or the
   *     segment is on the Java heap or confined to a thread
   */
  AsyncRequest send(MemorySegment segment, long offset, long lengthBytes, int tag);

  /**
   * Sends a whole segment; see {@link #send(MemorySegment, long, long, int)}.
   *
   * @param segment host memory, up to {@link DeviceLimits#maxMessageBytes()} long
   * @param tag any 32 bits
   * @return the request
   */
  default AsyncRequest send(MemorySegment segment, int tag) {
    return send(segment, 0, segment.byteSize(), tag);
  }

  /**
   * As {@link #send(MemorySegment, long, long, int)}, from memory that is registered for {@link
   * Use#SEND}.
   *
   * @param registration of this communicator; it may be staged
   * @param offset of the first byte, in the registered memory
   * @param lengthBytes 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param tag any 32 bits
   * @return the request
   */
  AsyncRequest send(Registration registration, long offset, long lengthBytes, int tag);

  /**
   * Sends all of it; see {@link #send(Registration, long, long, int)}.
   *
   * @param registration of this communicator
   * @param tag any 32 bits
   * @return the request
   */
  default AsyncRequest send(Registration registration, int tag) {
    return send(registration, 0, registration.lengthBytes(), tag);
  }
}
