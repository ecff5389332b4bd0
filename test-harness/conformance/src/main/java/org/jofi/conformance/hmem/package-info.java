/** Cases of area {@link org.jofi.conformance.rule.Area#HMEM}. */
@NullMarked
package org.jofi.conformance.hmem;

import org.jspecify.annotations.NullMarked;
