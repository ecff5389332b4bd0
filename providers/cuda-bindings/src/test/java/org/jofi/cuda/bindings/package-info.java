/** Holds the generated bindings against cuda.h. */
@NullMarked
package org.jofi.cuda.bindings;

import org.jspecify.annotations.NullMarked;
