/** Cases of area {@link org.jofi.conformance.rule.Area#IMMEDIATE}. */
@NullMarked
package org.jofi.conformance.immediate;

import org.jspecify.annotations.NullMarked;
