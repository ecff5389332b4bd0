/**
 * Checks whether bytes that were reported as delivered did arrive. It sends known bytes over a
 * path, reads the whole target, and names what went wrong.
 */
@NullMarked
package org.jofi.cli.verify;

import org.jspecify.annotations.NullMarked;
