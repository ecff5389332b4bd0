/** Cases of area {@link org.jofi.conformance.rule.Area#THREADING}. */
@NullMarked
package org.jofi.conformance.threading;

import org.jspecify.annotations.NullMarked;
