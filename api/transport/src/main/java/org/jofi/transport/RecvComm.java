package org.jofi.transport;

/** The receiving side of a connection. See {@link Comm} for threads and results. */
public interface RecvComm extends Comm {

  /**
   * Receives a message of that tag.
   *
   * @param address first byte, within the registration; ignored if the length is 0
   * @param lengthBytes the longest message that it takes, 0 or more; a longer one is cut
   * @param tag any 32 bits
   * @param registration of the memory
   * @return a request id, whose {@link #test} tells the message's true length; {@link
   *     Result#TRY_AGAIN} while {@link DeviceLimits#receivesInFlight()} are in flight
   * @throws IllegalArgumentException if the range leaves the registration or is too long
   */
  long irecv(long address, long lengthBytes, int tag, Registration registration);

  /** Receives into all of a registration; see {@link #irecv(long, long, int, Registration)}. */
  default long irecv(Registration registration, int tag) {
    return irecv(registration.address(), registration.lengthBytes(), tag, registration);
  }

  /**
   * Receives several messages as one request. They are matched by tag, in the order given for those
   * of one tag.
   *
   * @param count 1 to {@link DeviceLimits#groupedReceives()}; how much of the arrays is used
   * @return a request id, or {@link Result#TRY_AGAIN}; its {@link #test} tells the sum of lengths
   */
  long irecv(int count, long[] addresses, long[] lengths, int[] tags, Registration[] registrations);

  /**
   * As {@link Comm#test}, and tells each message's length once a grouped receive is done.
   *
   * @param lengths takes the lengths, in the order of the call that posted them
   * @throws IllegalArgumentException if it is shorter than the group; the request stays
   */
  long test(long request, long[] lengths);

  /**
   * Makes what was received visible to the GPU whose memory it is in: reads through every data rail
   * that may have carried some of it, so that the writes before are past the bus.
   *
   * @param registration of the memory that was received into
   * @return a request id; {@link Result#TRY_AGAIN}; {@link Result#NOTHING_TO_DO} where no flush is
   *     needed, for the reason of {@link #flushReason}
   */
  long iflush(long address, long lengthBytes, Registration registration);

  /** Whether, and why or why not, {@link #iflush} of that memory does something. */
  String flushReason(Registration registration);
}
