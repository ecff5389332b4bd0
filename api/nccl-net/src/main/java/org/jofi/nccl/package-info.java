/**
 * NCCL's network plugin on top of {@link org.jofi.transport}.
 *
 * <p>NCCL calls the functions in the shared library's table, the library calls {@link
 * org.jofi.nccl.NetPlugin} through upcall stubs, and that calls the transport. The pointers that
 * NCCL gets are handles: a slot of a table and a generation. So a stale or foreign handle is
 * detected without reading memory that it points to.
 *
 * <p><b>Threads.</b> NCCL calls from several threads. It calls functions of contexts and devices
 * under a lock of its own. For each communicator, a service thread connects, registers and closes,
 * while a progress thread posts and tests. Each upcall attaches its thread to the JVM.
 */
@NullMarked
package org.jofi.nccl;

import org.jspecify.annotations.NullMarked;
