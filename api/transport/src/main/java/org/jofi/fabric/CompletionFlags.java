package org.jofi.fabric;

/**
 * What completed, as bits: fi_cq(3), "completion flags". The values are libfabric's.
 *
 * <p>Providers differ in what they set for the arrival of a write with immediate data. Rely on
 * {@link #bringsData} alone there.
 */
public final class CompletionFlags {
  /** An RMA operation. */
  public static final long RMA = 1L << 2;

  /** A send or a receive. */
  public static final long MSG = 1L << 1;

  /** A read that was posted here. */
  public static final long READ = 1L << 8;

  /** A write that was posted here. */
  public static final long WRITE = 1L << 9;

  /** A receive. */
  public static final long RECV = 1L << 10;

  /** A send. */
  public static final long SEND = 1L << 11;

  /** A peer's read. */
  public static final long REMOTE_READ = 1L << 12;

  /** A peer's write. */
  public static final long REMOTE_WRITE = 1L << 13;

  /** The completion carries immediate data. */
  public static final long REMOTE_CQ_DATA = 1L << 17;

  private CompletionFlags() {}

  /**
   * {@return whether a completion brings immediate data of a peer's} Some providers set {@link
   * #REMOTE_CQ_DATA} on the sender's own operation as well (sockets), and efa of libfabric 1.17 has
   * {@link #WRITE} on an arrival, beside {@link #REMOTE_WRITE}.
   *
   * @param flags those of the completion
   */
  public static boolean bringsData(long flags) {
    boolean own = (flags & (SEND | WRITE | READ)) != 0 && (flags & REMOTE_WRITE) == 0;
    return (flags & REMOTE_CQ_DATA) != 0 && !own;
  }

  /**
   * {@return the man-page name of the call whose completion has these flags, as far as they
   * identify it; otherwise {@code a peer's RMA} or {@code an operation}}
   *
   * @param flags those of the completion
   */
  public static String operation(long flags) {
    // First what cannot be of this side: some arrivals have the bit of a local operation, too.
    if ((flags & (REMOTE_WRITE | REMOTE_READ)) != 0) {
      return "a peer's RMA";
    }
    if ((flags & SEND) != 0) {
      return "fi_send";
    }
    if ((flags & RECV) != 0) {
      return "fi_recv";
    }
    if ((flags & READ) != 0) {
      return "fi_read";
    }
    if ((flags & WRITE) != 0) {
      return "fi_write";
    }
    return (flags & REMOTE_CQ_DATA) != 0 ? "a peer's RMA" : "an operation";
  }
}
