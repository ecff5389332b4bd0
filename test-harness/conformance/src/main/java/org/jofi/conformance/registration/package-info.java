/** Cases of area {@link org.jofi.conformance.rule.Area#REGISTRATION}. */
@NullMarked
package org.jofi.conformance.registration;

import org.jspecify.annotations.NullMarked;
