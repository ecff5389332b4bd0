/**
 * A fabric in pure Java, in one process: endpoints, registrations and completions as EFA, Slingshot
 * and tcp NICs have them, strict about every contract, with faults drawn from a seed.
 *
 * <p>Two ways to run it. A {@link org.jofi.simulated.Simulation} owns virtual time and steps its
 * participants on one thread: the same seed gives the same run. A {@link
 * org.jofi.simulated.SimulatedProvider}, found by {@link java.util.ServiceLoader}, runs in real
 * time with as many threads as the program likes, where libfabric is absent.
 */
@NullMarked
package org.jofi.simulated;

import org.jspecify.annotations.NullMarked;
