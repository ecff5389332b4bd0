/** Cases of area {@link org.jofi.conformance.Area#CANCEL}. */
@NullMarked
package org.jofi.conformance.cancel;

import org.jspecify.annotations.NullMarked;
