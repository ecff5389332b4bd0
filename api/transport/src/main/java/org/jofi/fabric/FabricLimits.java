package org.jofi.fabric;

/**
 * Sizes that a provider negotiated: fi_domain(3), fi_endpoint(3). A size that does not fit a
 * positive long is {@link Long#MAX_VALUE}. An endpoint may take less: {@link Endpoint#limits()}.
 *
 * @param mrKeyBytes width of an application's key, 1 to 8; keys of a provider are 8 bytes wide
 * @param cqDataBytes width of immediate data; 0 if there is none
 * @param injectBytes largest injected message
 * @param maxMessageBytes largest message or RMA operation
 * @param transmitDepth sends, writes and reads that one endpoint takes before {@code -EAGAIN}
 * @param receiveDepth receives that one endpoint takes before {@code -EAGAIN}
 * @param mrIovLimit how many pieces of memory one region may consist of
 * @param mrCount regions that one domain takes; 0 if the provider does not report it
 */
public record FabricLimits(
    int mrKeyBytes,
    int cqDataBytes,
    long injectBytes,
    long maxMessageBytes,
    int transmitDepth,
    int receiveDepth,
    int mrIovLimit,
    long mrCount) {}
