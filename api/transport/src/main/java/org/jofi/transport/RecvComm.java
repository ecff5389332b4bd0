package org.jofi.transport;

import java.lang.foreign.MemorySegment;

/** The receiving side of a connection. See {@link Comm} for threads and results. */
public interface RecvComm extends Comm {

  /**
   * Receives a message with this tag. One that is longer than the receive fails the communicator at
   * both peers: {@link FailureCause#TRUNCATED}.
   *
   * @param segment host memory, which {@link Comm} says more of
   * @param offset of the first byte, in the segment
   * @param lengthBytes how long a message may be, 0 or more; a longer one fails the communicator
   * @param tag any 32 bits
   * @return a request id, for which {@link #test} returns the number of bytes received; {@link
   *     Result#TRY_AGAIN} while {@link DeviceLimits#receivesInFlight()} are in flight
   * @throws IllegalArgumentException if the range is not within the segment or is too long, or the
   *     segment is read-only or on the Java heap
   * @throws TransportException if it is not registered yet, and a NIC refuses it
   */
  long irecv(MemorySegment segment, long offset, long lengthBytes, int tag);

  /**
   * Receives into a whole segment; see {@link #irecv(MemorySegment, long, long, int)}.
   *
   * @param segment host memory, as long as a message may be; a longer one fails the communicator
   * @param tag any 32 bits
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  default long irecv(MemorySegment segment, int tag) {
    return irecv(segment, 0, segment.byteSize(), tag);
  }

  /**
   * As {@link #irecv(MemorySegment, long, long, int)}, into memory that is registered for {@link
   * Use#RECEIVE}.
   *
   * @param registration of this communicator; it may be staged
   * @param offset of the first byte, in the registered memory; ignored if the length is 0
   * @param lengthBytes how long a message may be, 0 or more; a longer one fails the communicator
   * @param tag any 32 bits
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  long irecv(Registration registration, long offset, long lengthBytes, int tag);

  /**
   * Receives into all of it; see {@link #irecv(Registration, long, long, int)}.
   *
   * @param registration as long as a message may be; a longer one fails the communicator
   * @param tag any 32 bits
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  default long irecv(Registration registration, int tag) {
    return irecv(registration, 0, registration.lengthBytes(), tag);
  }

  /**
   * Receives several messages as one request. They are matched by tag; those with the same tag in
   * the order of the group.
   *
   * @param group 1 to {@link DeviceLimits#groupedReceives()} receives; it is the caller's again
   *     when this returns, the memory when the request is over
   * @return a request id, or {@link Result#TRY_AGAIN}; for which {@link #test} returns the sum of
   *     the lengths
   * @throws IllegalArgumentException if it has too many or none, or one of them is no receive that
   *     could be posted by itself, or is staged
   * @throws TransportException if memory is not registered yet, and a NIC refuses it
   */
  long irecv(ReceiveGroup group);

  /**
   * As {@link Comm#test}; once a grouped receive is done, it also returns the length of each
   * message.
   *
   * @param request as for {@link Comm#test}
   * @param lengths is filled with the lengths, in the order of the call that posted them
   * @return as {@link Comm#test}; for a group, the sum of the lengths once it is done
   * @throws IllegalArgumentException if the array is shorter than the group; the request can be
   *     tested again
   */
  long test(long request, long[] lengths);

  /**
   * The length of each message of a receive that succeeded and was reported, until its slot is used
   * again: for groups that a {@link Poller} told of.
   *
   * @param request the id of a receive, of a group or a single one
   * @param lengths is filled with the lengths, in the order of the call that posted them
   * @return how many there are; 0 if it is no receive that succeeded, or its slot is used again
   * @throws IllegalArgumentException if the array is shorter than the group
   */
  int lengths(long request, long[] lengths);

  /**
   * Makes received data visible to the GPU whose memory it is in. It reads through every data rail
   * that may have carried part of the data: when such a read is complete, the NIC's earlier writes
   * are, too.
   *
   * @param registration of the memory that the data was received into
   * @param offset of the first byte, in the registered memory
   * @param lengthBytes how many were received there; of 0 there is nothing to flush
   * @return a request id; {@link Result#TRY_AGAIN}; {@link Result#NOTHING_TO_DO} where no flush is
   *     needed, for the reason of {@link #flushReason}
   */
  long iflush(Registration registration, long offset, long lengthBytes);

  /**
   * {@return a sentence that says whether {@link #iflush} of this memory does something, and why}
   *
   * @param registration of this communicator, not closed yet
   */
  String flushReason(Registration registration);
}
