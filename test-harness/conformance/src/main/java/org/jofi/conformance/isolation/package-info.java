/** Cases of area {@link org.jofi.conformance.rule.Area#ISOLATION}. */
@NullMarked
package org.jofi.conformance.isolation;

import org.jspecify.annotations.NullMarked;
