/** Which NICs make up a device, by where they sit on PCI. Used when a transport opens only. */
@NullMarked
package org.jofi.rdma.topology;

import org.jspecify.annotations.NullMarked;
