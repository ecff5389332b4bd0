package org.jofi.simulated.profile;

/**
 * What a profile reports in fi_cq_readerr(3), by cause: libfabric's error numbers and the
 * provider's own. All are positive.
 *
 * @param badRegion the target has no such region, or the region does not cover the range or allow
 *     the access
 * @param badRegionProvider the provider's number for it
 * @param peerGone the peer's endpoint is closed
 * @param peerGoneProvider the provider's number for it
 * @param unreachable the peer, or the NIC itself, does not answer
 * @param unreachableProvider the provider's number for it
 * @param other what an injected completion error reports
 * @param otherProvider the provider's number for it
 */
public record ErrorCodes(
    int badRegion,
    int badRegionProvider,
    int peerGone,
    int peerGoneProvider,
    int unreachable,
    int unreachableProvider,
    int other,
    int otherProvider) {}
