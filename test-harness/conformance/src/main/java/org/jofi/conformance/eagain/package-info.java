/** Cases of area {@link org.jofi.conformance.rule.Area#EAGAIN}. */
@NullMarked
package org.jofi.conformance.eagain;

import org.jspecify.annotations.NullMarked;
