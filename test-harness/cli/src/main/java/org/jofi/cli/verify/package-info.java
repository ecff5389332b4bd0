/**
 * Whether bytes that were reported as delivered did arrive: moves known bytes through a path, looks
 * at all of the target, and names what went wrong.
 */
@NullMarked
package org.jofi.cli.verify;

import org.jspecify.annotations.NullMarked;
