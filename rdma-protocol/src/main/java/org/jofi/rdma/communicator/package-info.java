/**
 * The objects of the transport API: devices, listeners, connection attempts, communicators and
 * registrations. Each is a thin layer over a {@link org.jofi.rdma.connect.Connection}, one end of a
 * connection, which does the work.
 *
 * <p>Every call takes the lock of the communicator's endpoint, and no other.
 */
@NullMarked
package org.jofi.rdma.communicator;

import org.jspecify.annotations.NullMarked;
