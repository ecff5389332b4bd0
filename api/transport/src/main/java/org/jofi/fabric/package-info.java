/**
 * The fabric SPI: what a provider of network endpoints implements. The names are libfabric's.
 *
 * <p>Objects form a tree, and a child must close before its parent:
 *
 * <pre>
 * FabricProvider
 *  └─ Fabric                    one network
 *      └─ Domain                one NIC of it
 *          ├─ AddressVector     peers' addresses, as longs
 *          ├─ CompletionQueue   what finished, by context slot
 *          ├─ Endpoint          enabled from the start; sends, receives, writes, reads
 *          └─ MemoryRegion      registered memory: descriptor and key
 * </pre>
 *
 * Closing a parent with open children is refused with {@link org.jofi.fabric.FabricException} and
 * {@code EBUSY}, and the message names the children. A second close does nothing.
 *
 * <p><b>Two ways to fail.</b> Calls that are made per message, or that can be retried, return an
 * {@code int}: 0 or more for success, otherwise a negative {@link org.jofi.fabric.FabricErrno}.
 * {@code -EAGAIN} always means that nothing was posted. Set-up, misuse and use after close throw an
 * exception.
 *
 * <p><b>Threads.</b> Providers, infos, fabrics, domains and memory regions may be used from any
 * thread. A completion queue, the endpoints bound to it and their address vectors form a group.
 * Only one thread at a time may use a group, closing included; the caller has to see to that. The
 * caller also has to poll: with manual progress, nothing arrives and no peer is served unless the
 * completion queue is polled.
 */
@NullMarked
package org.jofi.fabric;

import org.jspecify.annotations.NullMarked;
