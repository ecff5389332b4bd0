/** What the protocol asks of its surroundings: of the machine, of progress threads, and of NICs. */
@NullMarked
package org.jofi.rdma.spi;

import org.jspecify.annotations.NullMarked;
