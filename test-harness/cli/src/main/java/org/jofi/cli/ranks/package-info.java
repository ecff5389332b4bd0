/**
 * Ranks: processes or threads that find each other, exchange data outside of the fabric, and end
 * together.
 *
 * <pre>
 * RankProcesses   starts them on this machine          Placement   or takes them from a Launcher: mpirun and the like
 * BootstrapServer one for all: who they are, what they tell each other, who died
 * Bootstrap       a rank's connection to it
 * RingLinks       its connections to other ranks, in a ring and to partners
 * BoundedWait     a rank's way to wait for the transport: bounded, and ended by a peer's death
 * FabricChoice    which fabric they are on
 * FabricEnd       what each chose of it, which the others are told before any two connect
 * </pre>
 */
@NullMarked
package org.jofi.cli.ranks;

import org.jspecify.annotations.NullMarked;
