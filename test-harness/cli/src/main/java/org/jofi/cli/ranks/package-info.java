/**
 * Ranks of a command: processes or threads that it starts, and that end together. How they find
 * each other is in {@link org.jofi.ranks}.
 *
 * <pre>
 * RankProcesses   starts them on this machine, RankThreads in this process
 * Roles           how the command's messages name them
 * RingLinks       a rank's connections to other ranks, in a ring and to partners
 * BoundedWait     a rank's way to wait for the transport: bounded, and ended by a peer's death
 * FabricChoice    which fabric they are on
 * FabricEnd       what each chose of it, which the others are told before any two connect
 * </pre>
 */
@NullMarked
package org.jofi.cli.ranks;

import org.jspecify.annotations.NullMarked;
