/** Cases of area {@link org.jofi.conformance.Area#RMA}. */
@NullMarked
package org.jofi.conformance.rma;

import org.jspecify.annotations.NullMarked;
