/** Cases of area {@link org.jofi.conformance.rule.Area#ORDERING}. */
@NullMarked
package org.jofi.conformance.ordering;

import org.jspecify.annotations.NullMarked;
