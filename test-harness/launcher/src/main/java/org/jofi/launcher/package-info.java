/** The tests of the launcher, and of the pages. */
@NullMarked
package org.jofi.launcher;

import org.jspecify.annotations.NullMarked;
