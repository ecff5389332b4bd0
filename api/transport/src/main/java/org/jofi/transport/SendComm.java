package org.jofi.transport;

/** The sending side of a connection. See {@link Comm} for threads and results. */
public interface SendComm extends Comm {

  /**
   * Sends a message to the receive of that tag which is next in the peer's order. Messages of one
   * tag arrive in the order of their sends. If the receive is shorter, so is what is moved, and
   * both sides report that length.
   *
   * @param address first byte, within the registration; ignored if the length is 0
   * @param lengthBytes 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param tag any 32 bits
   * @param registration of the memory
   * @return a request id; {@link Result#TRY_AGAIN} as long as the peer has no such receive posted
   * @throws IllegalArgumentException if the range leaves the registration or is too long
   */
  long isend(long address, long lengthBytes, int tag, Registration registration);

  /** Sends all of a registration; see {@link #isend(long, long, int, Registration)}. */
  default long isend(Registration registration, int tag) {
    return isend(registration.address(), registration.lengthBytes(), tag, registration);
  }
}
