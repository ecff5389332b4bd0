/**
 * A ring all-reduce on communicators. It is an example of a collective on {@link
 * org.jofi.transport}.
 *
 * <p>Read {@link org.jofi.cli.allreduce.RingSchedule} first, which says what a rank sends and
 * receives and what it has to wait for, without any transport; then {@link
 * org.jofi.cli.allreduce.RingAllReduce}, which runs a schedule on a transport. {@link
 * org.jofi.cli.allreduce.RingMemory} has the arrays and does the additions.
 */
@NullMarked
package org.jofi.cli.allreduce;

import org.jspecify.annotations.NullMarked;
