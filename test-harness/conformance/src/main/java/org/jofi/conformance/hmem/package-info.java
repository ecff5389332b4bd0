/** Cases of area {@link org.jofi.conformance.Area#HMEM}. */
@NullMarked
package org.jofi.conformance.hmem;

import org.jspecify.annotations.NullMarked;
