/** Cases of area {@link org.jofi.conformance.rule.Area#CANCEL}. */
@NullMarked
package org.jofi.conformance.cancel;

import org.jspecify.annotations.NullMarked;
