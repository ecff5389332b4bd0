/** Holds the generated bindings against libfabric's headers. */
@NullMarked
package org.jofi.libfabric.bindings;

import org.jspecify.annotations.NullMarked;
