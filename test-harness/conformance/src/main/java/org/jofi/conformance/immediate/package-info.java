/** Cases of area {@link org.jofi.conformance.Area#IMMEDIATE}. */
@NullMarked
package org.jofi.conformance.immediate;

import org.jspecify.annotations.NullMarked;
