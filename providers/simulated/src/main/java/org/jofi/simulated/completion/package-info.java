/** Completions on their way from the network to the program that polls them. */
@NullMarked
package org.jofi.simulated.completion;

import org.jspecify.annotations.NullMarked;
