/** How the protocol and the cache write counters. Exported to those two alone. */
@NullMarked
package org.jofi.counters.written;

import org.jspecify.annotations.NullMarked;
