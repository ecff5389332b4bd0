@NullMarked
package org.jofi.cuda;

import org.jspecify.annotations.NullMarked;
