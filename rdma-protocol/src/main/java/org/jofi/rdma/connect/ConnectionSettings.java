package org.jofi.rdma.connect;

import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;

/**
 * What connections of an endpoint are given.
 *
 * @param features what this side can do: {@link org.jofi.rdma.wire.Features}
 * @param maxMessageBytes longest message
 * @param connectNs bound on making a connection
 * @param requestNs bound on a request that the peer is at: a matched send, a receive of which
 *     something arrived, a one-sided operation
 * @param closeNs bound on waiting for a peer that was told of a close
 * @param silenceNs how long a peer that is waited for may be silent before it counts as lost; it is
 *     asked after a third of that
 * @param clock for bounds
 * @param random numbers that cannot be guessed
 */
public record ConnectionSettings(
    long features,
    long maxMessageBytes,
    long connectNs,
    long requestNs,
    long closeNs,
    long silenceNs,
    NanoClock clock,
    LongSupplier random) {}
