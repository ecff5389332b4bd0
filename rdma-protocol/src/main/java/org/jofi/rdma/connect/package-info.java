/**
 * Connections of an endpoint: the handshake that makes them, the dispatch of arriving messages, and
 * how they end. Used with the endpoint's lock held; every wait has a time limit.
 */
@NullMarked
package org.jofi.rdma.connect;

import org.jspecify.annotations.NullMarked;
