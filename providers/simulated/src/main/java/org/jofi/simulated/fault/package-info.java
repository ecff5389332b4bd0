/** The faults that can be injected, and which of them a run has. */
@NullMarked
package org.jofi.simulated.fault;

import org.jspecify.annotations.NullMarked;
