package org.jofi.rdma.connect;

import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;

/**
 * What connections of an endpoint are given.
 *
 * @param features what this side can do: {@link org.jofi.rdma.wire.Features}
 * @param maxMessageBytes longest message
 * @param connectNs bound on making a connection
 * @param closeNs bound on waiting for a peer that was told of a close
 * @param clock for bounds
 * @param random numbers that cannot be guessed
 */
public record ConnectionSettings(
    long features,
    long maxMessageBytes,
    long connectNs,
    long closeNs,
    NanoClock clock,
    LongSupplier random) {}
