/** Cases of area {@link org.jofi.conformance.rule.Area#ERRORS}. */
@NullMarked
package org.jofi.conformance.errors;

import org.jspecify.annotations.NullMarked;
