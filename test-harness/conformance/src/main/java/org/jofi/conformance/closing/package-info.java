/** Cases of area {@link org.jofi.conformance.Area#CLOSING}. */
@NullMarked
package org.jofi.conformance.closing;

import org.jspecify.annotations.NullMarked;
