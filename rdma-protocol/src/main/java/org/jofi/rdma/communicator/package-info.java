/**
 * What a collective library holds: devices, listeners, connection attempts, communicators and
 * registrations, each a thin layer over the side of a connection that does the work.
 *
 * <p>Every call takes the lock of the communicator's endpoint, and no other.
 */
@NullMarked
package org.jofi.rdma.communicator;

import org.jspecify.annotations.NullMarked;
