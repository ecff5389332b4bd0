/** The RDMA protocol over multi-rail endpoints. */
@NullMarked
package org.jofi.rdma;

import org.jspecify.annotations.NullMarked;
