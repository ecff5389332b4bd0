/** The contracts between a program and the fabric, and what happens to one who breaks them. */
@NullMarked
package org.jofi.simulated.contract;

import org.jspecify.annotations.NullMarked;
