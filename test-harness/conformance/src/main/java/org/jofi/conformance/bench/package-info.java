/** What the body of a case works with: endpoints on a bench, their buffers and completions. */
@NullMarked
package org.jofi.conformance.bench;

import org.jspecify.annotations.NullMarked;
