/** The layering of the project, as rules that its classes are held to. */
@NullMarked
package org.jofi.architecture;

import org.jspecify.annotations.NullMarked;
