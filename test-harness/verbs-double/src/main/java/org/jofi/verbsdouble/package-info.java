/**
 * An InfiniBand adapter without hardware: libraries in C in place of libibverbs and librdmacm, with
 * which libfabric's own verbs provider runs between the processes of one machine.
 */
@NullMarked
package org.jofi.verbsdouble;

import org.jspecify.annotations.NullMarked;
