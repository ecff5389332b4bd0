/** Cases of area {@link org.jofi.conformance.Area#ORDERING}. */
@NullMarked
package org.jofi.conformance.ordering;

import org.jspecify.annotations.NullMarked;
