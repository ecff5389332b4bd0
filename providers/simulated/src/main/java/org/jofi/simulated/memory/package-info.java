/** The memory of this process, as the fabric reads and writes it. */
@NullMarked
package org.jofi.simulated.memory;

import org.jspecify.annotations.NullMarked;
