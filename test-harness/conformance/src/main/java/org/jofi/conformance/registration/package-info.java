/** Cases of area {@link org.jofi.conformance.Area#REGISTRATION}. */
@NullMarked
package org.jofi.conformance.registration;

import org.jspecify.annotations.NullMarked;
