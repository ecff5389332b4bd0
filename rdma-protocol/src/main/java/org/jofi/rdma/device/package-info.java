/**
 * Devices: which NICs they are made of, what they can do, and the endpoints that communicators of a
 * device share.
 */
@NullMarked
package org.jofi.rdma.device;

import org.jspecify.annotations.NullMarked;
