/** What a task allocates on the Java heap. */
@NullMarked
package org.jofi.allocation;

import org.jspecify.annotations.NullMarked;
