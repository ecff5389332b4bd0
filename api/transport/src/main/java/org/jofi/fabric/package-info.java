/**
 * The fabric SPI: what a provider of network endpoints implements, in libfabric's own nouns.
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
 * {@code EBUSY}, naming the children; closing twice is a no-op.
 *
 * <p><b>Two ways to fail.</b> What a caller can retry, and what happens per message, is an {@code
 * int}: 0 or more for success, a negative {@link org.jofi.fabric.FabricErrno} otherwise, where
 * {@code -EAGAIN} always means that nothing was posted. Set-up, misuse and use after close throw.
 *
 * <p><b>Threads.</b> Providers, infos, fabrics, domains and memory regions may be used from any
 * thread. A completion queue, the endpoints bound to it and their address vectors form a group that
 * one thread at a time may use, closing included; the caller serialises. Providers need a poller:
 * with manual progress nothing arrives, and nothing is served to peers, unless somebody polls.
 */
@NullMarked
package org.jofi.fabric;

import org.jspecify.annotations.NullMarked;
