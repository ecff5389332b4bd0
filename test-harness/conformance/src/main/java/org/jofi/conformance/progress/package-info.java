/** Cases of area {@link org.jofi.conformance.rule.Area#PROGRESS}. */
@NullMarked
package org.jofi.conformance.progress;

import org.jspecify.annotations.NullMarked;
