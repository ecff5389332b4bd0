/**
 * A ring all-reduce on communicators: how a collective is written on {@link org.jofi.transport}.
 *
 * <p>Read {@link org.jofi.cli.allreduce.RingSchedule} first, which says what a rank sends and
 * receives and what has to be waited for, and knows no transport; then {@link
 * org.jofi.cli.allreduce.RingAllReduce}, which carries it out and knows no order. Where arrays
 * live, and what adds there, is {@link org.jofi.cli.allreduce.RingMemory}'s business.
 */
@NullMarked
package org.jofi.cli.allreduce;

import org.jspecify.annotations.NullMarked;
