/** Cases of area {@link org.jofi.conformance.rule.Area#RMA}. */
@NullMarked
package org.jofi.conformance.rma;

import org.jspecify.annotations.NullMarked;
