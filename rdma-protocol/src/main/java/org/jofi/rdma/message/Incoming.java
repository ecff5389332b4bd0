package org.jofi.rdma.message;

/** A receive in flight, or several as one, whose stripes arrive. */
interface Incoming {

  /** The index of its first receive. */
  long index();

  /** How many indices it has, one after the other. */
  int indices();

  /** There is room for what arrives: the peer is told of it now. */
  void announce();

  /** How many lengths it has. */
  int count();

  /** The true length of a message of a request that is over. */
  long lengthBytes(int sub);

  /**
   * A stripe arrived.
   *
   * @param immediate checked
   * @return whether it fits
   */
  boolean stripe(int sub, int immediate);

  /** A true length arrived; whether it fits. */
  boolean trueLength(int sub, long lengthBytes);

  /** Whether a stripe of it arrived: as {@link Receiver#hasStripe}. */
  int hasStripe(int sub, int stripe);

  /** A stripe was written again; whether it fits. */
  boolean written(int sub, int immediate);

  /** Whether its entries were written, as far as the provider told. */
  boolean isWritten();

  /**
   * Its entries were lost without a word: they are written again if they can be, over another rail
   * if possible.
   */
  void writeAgain();
}
