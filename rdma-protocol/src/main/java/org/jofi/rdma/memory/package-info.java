/** Registered memory of our own: blocks cut into entries, for receives, headers and landings. */
@NullMarked
package org.jofi.rdma.memory;

import org.jspecify.annotations.NullMarked;
