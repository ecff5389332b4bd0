/**
 * A simulated fabric in pure Java, in one process. Its endpoints, registrations and completions
 * behave like those of EFA, Slingshot and tcp NICs. It checks every contract, and injects faults
 * drawn from a seed.
 *
 * <p>There are two ways to run it. A {@link org.jofi.simulated.Simulation} has virtual time and
 * steps its participants on one thread: the same seed always gives the same run. A {@link
 * org.jofi.simulated.SimulatedProvider}, found by {@link java.util.ServiceLoader}, runs in real
 * time with any number of threads, and needs no libfabric.
 *
 * <p>What a program sets is in the packages {@code profile}, {@code fault}, {@code contract} and
 * {@code stall}. The fabric itself is in {@code spi}, which checks calls; {@code engine}, which
 * carries transfers; {@code registration}, {@code completion} and {@code network}, on which both
 * work; and {@code memory} and {@code trace} below them all.
 */
@NullMarked
package org.jofi.simulated;

import org.jspecify.annotations.NullMarked;
