/** Cases of area {@link org.jofi.conformance.rule.Area#DISCOVERY}. */
@NullMarked
package org.jofi.conformance.discovery;

import org.jspecify.annotations.NullMarked;
