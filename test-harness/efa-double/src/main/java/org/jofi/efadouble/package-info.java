/**
 * An EFA device without hardware: libraries in C in place of libibverbs and libefa, with which
 * libfabric's own efa provider runs between the processes of one machine.
 */
@NullMarked
package org.jofi.efadouble;

import org.jspecify.annotations.NullMarked;
