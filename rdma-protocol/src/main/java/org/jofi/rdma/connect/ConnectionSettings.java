package org.jofi.rdma.connect;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;
import org.jofi.fabric.ProviderRelease;
import org.jofi.rdma.wire.EagerGrant;

/**
 * The settings of an endpoint's connections.
 *
 * @param release what connectors are told of the provider
 * @param features the features that are offered: {@link org.jofi.rdma.wire.Features}
 * @param maxMessageBytes longest message
 * @param eager the short messages that a connector may send before a receive is announced; fewer at
 *     once if there are many connections
 * @param connectNs bound on making a connection
 * @param requestNs time limit of a request that the peer is working on: a matched send, a receive
 *     of which something has arrived, a one-sided operation
 * @param closeNs how long to wait for a peer's answer to a close
 * @param silenceNs how long a peer may be silent while something waits for it until it counts as
 *     lost; after a third of this time it gets a ping
 * @param clock for bounds
 * @param random numbers that cannot be guessed
 * @param suspicions how often a close waited for half of its bound, so that a process may be dead;
 *     shared by the endpoints of a device. Each then asks whom its connections lead to, so that by
 *     the end of that bound all know who is dead, and no other close waits for it
 */
public record ConnectionSettings(
    ProviderRelease release,
    long features,
    long maxMessageBytes,
    EagerGrant eager,
    long connectNs,
    long requestNs,
    long closeNs,
    long silenceNs,
    NanoClock clock,
    LongSupplier random,
    AtomicLong suspicions) {}
