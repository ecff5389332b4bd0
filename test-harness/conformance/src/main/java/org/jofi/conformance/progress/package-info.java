/** Cases of area {@link org.jofi.conformance.Area#PROGRESS}. */
@NullMarked
package org.jofi.conformance.progress;

import org.jspecify.annotations.NullMarked;
