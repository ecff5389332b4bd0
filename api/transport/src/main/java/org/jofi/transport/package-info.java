/**
 * The API for a collective library: communicators that transfer messages over several NICs at once.
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
 * org.jofi.transport.Result} code, which is not; {@link org.jofi.transport.Comm#test} reports the
 * state of a request, and it is the call that makes progress. Callers that want to wait use {@link
 * org.jofi.transport.Await}, which has a time limit.
 *
 * <p><b>Threads.</b> Only one thread at a time may use a communicator, closing included. Different
 * threads may use different communicators at the same time. Transports, devices and listeners may
 * be used from any thread.
 *
 * <p><b>Failures.</b> If a request fails because of a peer or the network, its result is a {@link
 * org.jofi.transport.FailureCause}; posting calls and tests do not throw for it. Set-up, misuse and
 * use after close throw {@link org.jofi.transport.TransportException} or {@link
 * IllegalArgumentException}.
 */
@NullMarked
package org.jofi.transport;

import org.jspecify.annotations.NullMarked;
