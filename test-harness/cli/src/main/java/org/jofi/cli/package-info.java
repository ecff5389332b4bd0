/** The command line: one class per command. */
@NullMarked
package org.jofi.cli;

import org.jspecify.annotations.NullMarked;
