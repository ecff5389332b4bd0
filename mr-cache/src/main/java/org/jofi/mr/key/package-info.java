/** The keys of regions, where the application chooses them. */
@NullMarked
package org.jofi.mr.key;

import org.jspecify.annotations.NullMarked;
