/** Collective operations: what all ranks of a {@link org.jofi.collectives.Group} call together. */
@NullMarked
package org.jofi.collectives;

import org.jspecify.annotations.NullMarked;
