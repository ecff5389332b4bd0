/** Registered memory of our own: blocks cut into buffers, for what is sent and received. */
@NullMarked
package org.jofi.rdma.memory;

import org.jspecify.annotations.NullMarked;
