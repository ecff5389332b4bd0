/** Two processes that a test starts, relays lines between, and waits for. */
@NullMarked
package org.jofi.processes;

import org.jspecify.annotations.NullMarked;
