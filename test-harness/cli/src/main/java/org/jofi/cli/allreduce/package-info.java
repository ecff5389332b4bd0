/**
 * An all-reduce on communicators, in a ring or by recursive doubling. It is an example of a
 * collective on {@link org.jofi.transport}.
 *
 * <p>Read {@link org.jofi.cli.allreduce.RingSchedule} first, which says what a rank sends and
 * receives and what it has to wait for, without any transport; then {@link
 * org.jofi.cli.allreduce.RingAllReduce}, which runs a schedule on a transport. Short arrays have
 * {@link org.jofi.cli.allreduce.DoublingSchedule}, which takes fewer steps. {@link
 * org.jofi.cli.allreduce.RingMemory} has the arrays and does the additions.
 */
@NullMarked
package org.jofi.cli.allreduce;

import org.jspecify.annotations.NullMarked;
