package org.jofi.fabric;

/**
 * Sizes that a provider negotiated: fi_domain(3), fi_endpoint(3). A size that does not fit a
 * positive long is {@link Long#MAX_VALUE}.
 *
 * @param mrKeyBytes width of an application's key, 1 to 8; keys of a provider are 8 bytes wide
 * @param cqDataBytes width of immediate data; 0 if there is none
 * @param injectBytes largest injected message
 * @param maxMessageBytes largest message or RMA operation
 * @param transmitDepth sends, writes and reads that one endpoint takes before {@code -EAGAIN}
 * @param receiveDepth receives likewise
 * @param mrIovLimit pieces of memory that one region may join
 * @param mrCount regions that one domain takes; 0 if not told
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
