package org.jofi.transport;

/** The receiving side of a connection. See {@link Comm} for threads and results. */
public interface RecvComm extends Comm {

  /**
   * Receives a message with this tag.
   *
   * @param address first byte, within the registration; ignored if the length is 0
   * @param lengthBytes length of the buffer, 0 or more; a longer message is truncated to it
   * @param tag any 32 bits
   * @param registration of the memory
   * @return a request id, for which {@link #test} returns the number of bytes received; {@link
   *     Result#TRY_AGAIN} while {@link DeviceLimits#receivesInFlight()} are in flight
   * @throws IllegalArgumentException if the range is not within the registration or is too long
   */
  long irecv(long address, long lengthBytes, int tag, Registration registration);

  /**
   * Receives into the whole memory of a registration; see {@link #irecv(long, long, int,
   * Registration)}.
   */
  default long irecv(Registration registration, int tag) {
    return irecv(registration.address(), registration.lengthBytes(), tag, registration);
  }

  /**
   * Receives several messages as one request. They are matched by tag; those with the same tag in
   * the order of the arrays.
   *
   * @param count 1 to {@link DeviceLimits#groupedReceives()}; the number of messages, and of
   *     elements of each array that are used
   * @return a request id, or {@link Result#TRY_AGAIN}; for which {@link #test} returns the sum of
   *     the lengths
   */
  long irecv(int count, long[] addresses, long[] lengths, int[] tags, Registration[] registrations);

  /**
   * As {@link Comm#test}; once a grouped receive is done, it also returns the length of each
   * message.
   *
   * @param lengths is filled with the lengths, in the order of the call that posted them
   * @throws IllegalArgumentException if the array is shorter than the group; the request can be
   *     tested again
   */
  long test(long request, long[] lengths);

  /**
   * Makes received data visible to the GPU whose memory it is in. It reads through every data rail
   * that may have carried part of the data: when such a read is complete, the NIC's earlier writes
   * are, too.
   *
   * @param registration of the memory that the data was received into
   * @return a request id; {@link Result#TRY_AGAIN}; {@link Result#NOTHING_TO_DO} where no flush is
   *     needed, for the reason of {@link #flushReason}
   */
  long iflush(long address, long lengthBytes, Registration registration);

  /** A sentence that says whether {@link #iflush} of this memory does something, and why. */
  String flushReason(Registration registration);
}
