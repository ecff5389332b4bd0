/**
 * A driver: one thread that owns communicators and makes progress, and futures of what others
 * submit to it. It is made for many virtual threads, each of which talks to a peer of its own.
 *
 * <pre>
 * Driver                        one thread, one device
 *  ├─ AsyncSender               of a SendComm: sends; reads and writes
 *  ├─ AsyncReceiver             of a RecvComm: receives, flushes; reads and writes
 *  └─ AsyncRequest              a Future of the number of bytes
 * </pre>
 *
 * <p><b>Threads.</b> Everything here may be called from any thread. Nothing that is called holds a
 * monitor or is in native code while it waits, so no virtual thread keeps its carrier meanwhile.
 * What the driver owns, nobody else may use.
 *
 * <p><b>Order.</b> What one thread submits to one communicator is posted in that order: messages
 * among themselves, and one-sided operations and flushes among themselves. Neither kind waits for
 * the other. Different communicators are served in turn: one that has much to do, or whose peer
 * does not receive, holds up no other.
 *
 * <p><b>Back-pressure.</b> A communicator has room for a number of requests of each of these two
 * kinds that wait to be posted, {@link org.jofi.async.DriverOptions#waitingRequests()}. Who submits
 * one more is parked until there is room, for {@link org.jofi.async.DriverOptions#submitTimeout()}
 * at most; then the request fails with {@link org.jofi.transport.FailureCause#EXHAUSTED}, and was
 * not posted. {@link org.jofi.transport.Result#TRY_AGAIN} is dealt with inside.
 *
 * <p><b>Failures.</b> Wrong arguments are refused by the call, with {@link
 * IllegalArgumentException}. All else is the future's: a {@link
 * org.jofi.transport.TransportException}, with its {@link org.jofi.transport.Failure}. A
 * communicator that fails takes its own requests with it and nothing else.
 *
 * <p><b>Memory</b> stays the transport's, and reachable, until the future is done: a wait that
 * timed out or was interrupted changes nothing about that. The memory is registered by its first
 * use, as {@link org.jofi.transport.Comm} says. That is on the driver's thread, where all
 * communicators wait for it: so register what is large beforehand, with {@link
 * org.jofi.async.AsyncComm#register}, which works on the calling thread. Segments of confined
 * arenas are refused, since another thread than theirs posts.
 *
 * <p><b>What runs where.</b> The driver's thread makes progress, posts, and wakes who waits for a
 * request. No code of the program's runs there. What is to happen once a request is over ({@link
 * org.jofi.async.AsyncRequest#toCompletableFuture}) is handed to {@link
 * org.jofi.async.DriverOptions#continuations()}: by default each such step is on a virtual thread
 * of its own, where it may block.
 *
 * <p><b>Ends.</b> A communicator that is closed fails its requests in flight with {@link
 * org.jofi.transport.FailureCause#CLOSED}, the driver's close those of all. If the driver's thread
 * ends by an error, such as a lack of memory, all its communicators are aborted, and all requests
 * fail with {@link org.jofi.transport.FailureCause#ABORTED} and that error as their cause. No
 * future is left open in either case. An interrupt of the driver's thread does nothing.
 */
@NullMarked
package org.jofi.async;

import org.jspecify.annotations.NullMarked;
