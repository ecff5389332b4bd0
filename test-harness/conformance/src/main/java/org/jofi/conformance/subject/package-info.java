/** Providers under examination, and the names by which they are chosen. */
@NullMarked
package org.jofi.conformance.subject;

import org.jspecify.annotations.NullMarked;
