/** Carries what endpoints post from stage to stage, until it is completed. */
@NullMarked
package org.jofi.simulated.engine;

import org.jspecify.annotations.NullMarked;
