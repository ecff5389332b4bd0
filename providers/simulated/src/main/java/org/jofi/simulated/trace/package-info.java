/** The time of a network, and what happened at which time. */
@NullMarked
package org.jofi.simulated.trace;

import org.jspecify.annotations.NullMarked;
