/**
 * Collective operations as what each rank sends, receives and combines: no network, no threads, no
 * clock. {@link org.jofi.collectives.schedule.Steps} is what an algorithm writes to, {@link
 * org.jofi.collectives.schedule.Schedule} what becomes of it.
 */
@NullMarked
package org.jofi.collectives.schedule;

import org.jspecify.annotations.NullMarked;
