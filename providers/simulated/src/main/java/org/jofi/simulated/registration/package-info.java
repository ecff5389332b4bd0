/** Domains and the memory that is registered with them: fi_mr(3). */
@NullMarked
package org.jofi.simulated.registration;

import org.jspecify.annotations.NullMarked;
