/** Cases of area {@link org.jofi.conformance.Area#MESSAGES}. */
@NullMarked
package org.jofi.conformance.messages;

import org.jspecify.annotations.NullMarked;
