/**
 * NCCL's network plugin on top of {@link org.jofi.transport}.
 *
 * <p>NCCL calls the shared library's table, the library calls {@link org.jofi.nccl.NetPlugin}
 * through upcall stubs, and that calls the transport. What NCCL holds as pointers are handles: a
 * slot of a table and a generation, so that a stale or foreign one is told from a good one without
 * touching memory.
 *
 * <p><b>Threads.</b> NCCL calls from several: contexts and devices under a lock of its own; a
 * service thread per communicator connects, registers and closes; a progress thread per
 * communicator posts and tests, at the same time. Each upcall attaches its thread.
 */
@NullMarked
package org.jofi.nccl;

import org.jspecify.annotations.NullMarked;
