/** When a run counts as stuck. */
@NullMarked
package org.jofi.simulated.stall;

import org.jspecify.annotations.NullMarked;
