package org.jofi.fabric;

/**
 * How an operation is posted, as bits: fi_msg(3), fi_rma(3), "flags". The values are libfabric's.
 */
public final class PostFlags {
  /** None. */
  public static final long NONE = 0;

  /** More posts follow at once; the provider may wait for the last. */
  public static final long MORE = 1L << 18;

  /** Starts only after all earlier operations to the peer are complete. Needs FENCE. */
  public static final long FENCE = 1L << 21;

  /**
   * The caller may reuse the buffer as soon as the call returns. The message is at most {@link
   * EndpointLimits#injectedRmaBytes()} long, in host memory, and needs no descriptor. A completion
   * is still delivered.
   */
  public static final long INJECT = 1L << 25;

  /** Completes when the data has left this endpoint. The default of most providers. */
  public static final long TRANSMIT_COMPLETE = 1L << 27;

  /** Completes only when the data is visible in the target's memory. */
  public static final long DELIVERY_COMPLETE = 1L << 28;

  private PostFlags() {}
}
