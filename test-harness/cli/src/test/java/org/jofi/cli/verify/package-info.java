@NullMarked
package org.jofi.cli.verify;

import org.jspecify.annotations.NullMarked;
