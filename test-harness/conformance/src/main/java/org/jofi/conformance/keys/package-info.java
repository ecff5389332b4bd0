/** Cases of area {@link org.jofi.conformance.rule.Area#KEYS}. */
@NullMarked
package org.jofi.conformance.keys;

import org.jspecify.annotations.NullMarked;
