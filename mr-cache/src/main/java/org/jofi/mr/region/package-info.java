/** The regions of one range of memory on several rails. */
@NullMarked
package org.jofi.mr.region;

import org.jspecify.annotations.NullMarked;
