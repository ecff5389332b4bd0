/**
 * Counters of processes that use jofi, read from outside of them: how many messages and bytes went
 * over which rail, what waits, what failed and how often. A process writes them into a file in
 * shared memory, which {@link org.jofi.counters.Counters} reads; that costs the process nothing.
 */
@NullMarked
package org.jofi.counters;

import org.jspecify.annotations.NullMarked;
