/**
 * What a collective library calls: communicators that move messages over several NICs at once.
 *
 * <pre>
 * Transport                     devices of this machine; owns everything below
 *  └─ Device                    one group of NICs, its rails
 *      ├─ ListenComm            accepts; its ConnectHandle travels to the peer by any means
 *      │   └─ RecvComm          receives, flushes; reads and writes
 *      └─ ConnectAttempt        becomes
 *          └─ SendComm          sends; reads and writes
 * </pre>
 *
 * <p><b>Nothing blocks.</b> Posting calls return a request id, which is positive, or a {@link
 * org.jofi.transport.Result} code, which is not; {@link org.jofi.transport.Comm#test} tells how a
 * request fares, and is what makes progress. {@link org.jofi.transport.Await} waits, with a bound,
 * for those who want to.
 *
 * <p><b>Threads.</b> One thread at a time drives a communicator, closing included; different
 * communicators may be driven by different threads at the same time. Transports, devices and
 * listeners may be used from any thread.
 *
 * <p><b>Failures.</b> What a peer or the network does to a request is the request's result, with a
 * {@link org.jofi.transport.FailureCause}; it is never thrown out of a posting call or a test.
 * Set-up, misuse and use after close throw {@link org.jofi.transport.TransportException} or {@link
 * IllegalArgumentException}.
 */
@NullMarked
package org.jofi.transport;

import org.jspecify.annotations.NullMarked;
