package org.jofi.async;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Use;

/** The receiving side of a connection that a driver owns; see {@link AsyncComm}. */
public interface AsyncReceiver extends AsyncComm {

  /**
   * Receives a message with this tag, as {@link RecvComm#irecv(MemorySegment, long, long, int)}.
   *
   * @param segment host memory, not of a confined arena and not read-only
   * @param offset of the first byte, in the segment
   * @param lengthBytes how long a message may be, 0 or more; a longer one fails the communicator
   * @param tag any 32 bits
   * @return the request: the number of bytes received
   * @throws IllegalArgumentException if the range is not within the segment or is too long, or the
   *     segment is read-only, on the Java heap, or confined to a thread
   */
  AsyncRequest receive(MemorySegment segment, long offset, long lengthBytes, int tag);

  /**
   * Receives into a whole segment; see {@link #receive(MemorySegment, long, long, int)}.
   *
   * @param segment host memory, as long as a message may be
   * @param tag any 32 bits
   * @return the request
   */
  default AsyncRequest receive(MemorySegment segment, int tag) {
    return receive(segment, 0, segment.byteSize(), tag);
  }

  /**
   * As {@link #receive(MemorySegment, long, long, int)}, into memory that is registered for {@link
   * Use#RECEIVE}.
   *
   * @param registration of this communicator; it may be staged
   * @param offset of the first byte, in the registered memory
   * @param lengthBytes how long a message may be, 0 or more; a longer one fails the communicator
   * @param tag any 32 bits
   * @return the request
   */
  AsyncRequest receive(Registration registration, long offset, long lengthBytes, int tag);

  /**
   * Receives into all of it; see {@link #receive(Registration, long, long, int)}.
   *
   * @param registration of this communicator, as long as a message may be
   * @param tag any 32 bits
   * @return the request
   */
  default AsyncRequest receive(Registration registration, int tag) {
    return receive(registration, 0, registration.lengthBytes(), tag);
  }

  /**
   * Makes received data visible to the GPU whose memory it is in, as {@link RecvComm#iflush}. Where
   * no flush is needed, it is done at once, with 0 bytes.
   *
   * @param registration of the memory that the data was received into
   * @param offset of the first byte, in the registered memory
   * @param lengthBytes how many were received there
   * @return the request
   */
  AsyncRequest flush(Registration registration, long offset, long lengthBytes);
}
