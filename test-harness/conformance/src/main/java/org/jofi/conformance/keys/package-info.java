/** Cases of area {@link org.jofi.conformance.Area#KEYS}. */
@NullMarked
package org.jofi.conformance.keys;

import org.jspecify.annotations.NullMarked;
