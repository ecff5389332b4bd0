package org.jofi.nccl;

import org.jofi.transport.Registration;

/**
 * Registered memory, as the plugin's caller holds it.
 *
 * @param comm handle of the communicator that it belongs to
 * @param registration with the transport
 */
record Region(long comm, Registration registration) {}
