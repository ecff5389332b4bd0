/** The provider over libfabric.so.1. */
@NullMarked
package org.jofi.libfabric;

import org.jspecify.annotations.NullMarked;
