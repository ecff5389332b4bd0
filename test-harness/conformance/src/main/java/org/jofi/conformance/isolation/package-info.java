/** Cases of area {@link org.jofi.conformance.Area#ISOLATION}. */
@NullMarked
package org.jofi.conformance.isolation;

import org.jspecify.annotations.NullMarked;
