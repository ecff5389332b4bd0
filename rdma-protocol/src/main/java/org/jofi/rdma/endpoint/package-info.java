/**
 * Multi-rail endpoints: data rails and control rails, each with an endpoint, an address vector and
 * a completion queue of its own, under one lock.
 *
 * <p>Everything here is used with that lock, the monitor of the {@link
 * org.jofi.rdma.endpoint.MultiRailEndpoint}, held. Completions are given to who posted the
 * operation and to nobody else, and nothing is posted while a queue delivers: what follows from a
 * completion is queued in {@link org.jofi.rdma.endpoint.PendingPosts}.
 */
@NullMarked
package org.jofi.rdma.endpoint;

import org.jspecify.annotations.NullMarked;
