/** How the simulated kinds of NICs differ: what they negotiate, and how they behave. */
@NullMarked
package org.jofi.simulated.profile;

import org.jspecify.annotations.NullMarked;
