/** Cases of area {@link org.jofi.conformance.rule.Area#MESSAGES}. */
@NullMarked
package org.jofi.conformance.messages;

import org.jspecify.annotations.NullMarked;
