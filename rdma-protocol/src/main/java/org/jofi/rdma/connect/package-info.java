/**
 * Connections of an endpoint: the handshake that makes them, whom what arrives is for, and how they
 * end. Used with the endpoint's lock held; nothing waits without a bound.
 */
@NullMarked
package org.jofi.rdma.connect;

import org.jspecify.annotations.NullMarked;
