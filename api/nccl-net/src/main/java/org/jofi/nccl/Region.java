package org.jofi.nccl;

import org.jofi.transport.Registration;

/**
 * Registered memory, for which NCCL has a handle.
 *
 * @param comm handle of the communicator that it belongs to
 * @param registration the transport's registration
 */
record Region(long comm, Registration registration) {}
