/** Cases of area {@link org.jofi.conformance.rule.Area#CLOSING}. */
@NullMarked
package org.jofi.conformance.closing;

import org.jspecify.annotations.NullMarked;
