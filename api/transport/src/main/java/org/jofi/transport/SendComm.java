package org.jofi.transport;

/** The sending side of a connection. See {@link Comm} for threads and results. */
public interface SendComm extends Comm {

  /**
   * Sends a message to the peer's next receive with this tag, in the order in which the peer posted
   * its receives. Messages with the same tag arrive in the order in which they were sent. If the
   * receive is shorter than the message, only its length is transferred, and both peers report that
   * length.
   *
   * @param address first byte, within the registration; ignored if the length is 0
   * @param lengthBytes 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param tag any 32 bits
   * @param registration of the memory
   * @return a request id; {@link Result#TRY_AGAIN} as long as the peer has posted no such receive
   * @throws IllegalArgumentException if the range is not within the registration or is too long
   */
  long isend(long address, long lengthBytes, int tag, Registration registration);

  /**
   * Sends the whole memory of a registration; see {@link #isend(long, long, int, Registration)}.
   */
  default long isend(Registration registration, int tag) {
    return isend(registration.address(), registration.lengthBytes(), tag, registration);
  }
}
