package org.jofi.fabric;

/**
 * How long the operations of one endpoint may be, in bytes: fi_endpoint(3), FI_OPT_MAX_MSG_SIZE and
 * the like. They may be less than the {@link FabricLimits}, which are the most of all kinds of
 * operations. A size that does not fit a positive long is {@link Long#MAX_VALUE}.
 *
 * @param sendBytes longest send
 * @param rmaBytes longest write or read
 * @param injectedSendBytes longest send by {@link Endpoint#inject}
 * @param injectedRmaBytes longest write with {@link PostFlags#INJECT}; 0 if there is none
 */
public record EndpointLimits(
    long sendBytes, long rmaBytes, long injectedSendBytes, long injectedRmaBytes) {

  /**
   * {@return the limits of an endpoint that has none of its own}
   *
   * @param negotiated its domain's
   */
  public static EndpointLimits of(FabricLimits negotiated) {
    return new EndpointLimits(
        negotiated.maxMessageBytes(),
        negotiated.maxMessageBytes(),
        negotiated.injectBytes(),
        negotiated.injectBytes());
  }
}
