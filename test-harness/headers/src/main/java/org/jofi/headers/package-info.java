/** Compares generated bindings with the C headers of a machine, as its C compiler reads them. */
@NullMarked
package org.jofi.headers;

import org.jspecify.annotations.NullMarked;
