/** What the launcher needs of Java, and its tests. */
@NullMarked
package org.jofi.launcher;

import org.jspecify.annotations.NullMarked;
