/** Which bytes of a message go over which rail. */
@NullMarked
package org.jofi.rdma.schedule;

import org.jspecify.annotations.NullMarked;
