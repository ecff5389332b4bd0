package org.jofi.transport;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * A connected communicator. One thread at a time, closing included; where Java's assertions are on
 * ({@code -ea:org.jofi...}), a call that meets another thread's is an {@link AssertionError} that
 * names both.
 *
 * <p><b>Posting calls</b> do not wait for the peer or the network, never throw for anything that
 * the network or the peer does, and allocate nothing. They return a request id, which is positive,
 * or {@link Result#TRY_AGAIN}, or {@link Result#NOTHING_TO_DO}. Posting to a communicator that
 * failed succeeds: the request reports the failure. The memory belongs to the transport until the
 * request is over. Where endpoints have {@linkplain ProgressThreads progress threads}, a posting
 * call may have to wait while the endpoint's thread copies data that it just received, a few
 * milliseconds at most; {@link #test} returns at once instead.
 *
 * <p><b>Memory</b> is given as a segment, which is registered by its first use: as a whole up to
 * {@link CacheOptions#wholeSegmentBytes}, so that its parts share the registration, and for what it
 * is used for only. That first call waits for the NICs, and allocates. The device's registration
 * cache keeps the registration for the next call ({@link CacheOptions}), unless the segment has no
 * arena that says when its memory is freed: one by address, or of the global arena, is registered
 * anew for each request. The request keeps the segment reachable. Closing an arena of the JDK under
 * a request cannot be refused, and lets the NIC access memory that was freed; {@link
 * Transport#openArena} refuses it. Memory that is used again and again, and all memory of GPUs, can
 * be {@linkplain #register registered} by the caller.
 *
 * <p>After {@link #close}, every call throws {@link IllegalStateException}, except {@link #state},
 * {@link #test}, {@link #failure} and {@link #close}.
 */
public interface Comm extends AutoCloseable {

  /** {@return the device that it is on} */
  Device device();

  /** {@return its name in error messages: the local id, the peer and the device} */
  String label();

  /** {@return its state} */
  CommState state();

  /** {@return how it failed, if it is {@link CommState#FAILED} or was so before it was closed} */
  Optional<Failure> failure();

  /**
   * Registers memory for requests of this communicator: fi_mr(3). Any thread may call this, even
   * while another thread is in a call of this communicator, because NICs may take seconds to
   * register large memory. Memory that the peer reaches when it likes, {@link Use#PEER_READS} and
   * {@link Use#PEER_WRITES}, is not kept registered once its last registration is closed.
   *
   * @param memory must stay valid until the registration is closed; this does not take it over
   * @param first what for
   * @param more what else for
   * @return the registration, for requests of this communicator only. Who called closes it; what is
   *     left is ended when the communicator is closed
   * @throws TransportException if a NIC cannot register it, with {@link FailureCause#FABRIC} and
   *     the rail in the message, or {@link FailureCause#EXHAUSTED}; with {@link
   *     FailureCause#INTERRUPTED} if this thread is interrupted while another one registers or
   *     closes the same memory. Nothing stays registered then
   */
  Registration register(Memory memory, Use first, Use... more);

  /**
   * Registers host memory of a segment; see {@link #register(Memory, Use, Use...)}.
   *
   * @param segment all of it is registered; not empty, and not on the Java heap
   * @param first what for
   * @param more what else for
   * @return the registration, which the caller closes
   */
  default Registration register(MemorySegment segment, Use first, Use... more) {
    return register(Memory.of(segment), first, more);
  }

  /**
   * Writes into the peer's memory: fi_write(3). A long write is striped over the rails.
   *
   * @param from host memory to write from
   * @param offset of the first byte, in the segment
   * @param lengthBytes how many, 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param to the peer's memory, which it registered for {@link Use#PEER_WRITES}
   * @param remoteOffset where in the peer's memory, in bytes; the whole range must be within it
   * @return a request id, or {@link Result#TRY_AGAIN}
   * @throws IllegalArgumentException if a range is not within its memory or longer than a message
   *     may be, the segment is on the heap, or the peer's memory has another number of rails
   * @throws TransportException if it is not registered yet, and a NIC refuses it
   */
  long iwrite(
      MemorySegment from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset);

  /**
   * As {@link #iwrite(MemorySegment, long, long, RemoteMemory, long)}, from memory that is
   * registered for {@link Use#SEND}.
   *
   * @param from memory to write from, registered with this communicator and not staged
   * @param offset of the first byte, in the registered memory; ignored if the length is 0
   * @param lengthBytes how many, 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param to the peer's memory, which it registered for {@link Use#PEER_WRITES}
   * @param remoteOffset where in the peer's memory, in bytes; the whole range must be within it
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  long iwrite(Registration from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset);

  /**
   * Writes a whole segment to the beginning of the peer's memory; see {@link #iwrite(MemorySegment,
   * long, long, RemoteMemory, long)}.
   *
   * @param from host memory to write from
   * @param to the peer's memory, or a {@linkplain RemoteMemory#slice slice} of it; at least as long
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  default long iwrite(MemorySegment from, RemoteMemory to) {
    return iwrite(from, 0, from.byteSize(), to, 0);
  }

  /**
   * Writes a few bytes, which are copied: they need no registration, and the caller may change them
   * as soon as the call returns. Otherwise as {@link #iwrite}. It is not an injected write,
   * fi_inject_write(3), since that does not report when the data has arrived.
   *
   * @param from any host memory that this thread may access, the Java heap included
   * @param offset of the first byte, in the segment
   * @param lengthBytes how many, 0 to {@link DeviceLimits#inlineWriteBytes()}
   * @param to the peer's memory, which it registered for {@link Use#PEER_WRITES}
   * @param remoteOffset where in the peer's memory, in bytes; the whole range must be within it
   * @return a request id, or {@link Result#TRY_AGAIN}
   * @throws IllegalArgumentException if it is too long, or a range is not within its memory
   */
  long iwriteInline(
      MemorySegment from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset);

  /**
   * Reads from the peer's memory: fi_read(3). As {@link #iwrite(MemorySegment, long, long,
   * RemoteMemory, long)}, the other way round.
   *
   * @param into host memory to read into, which may not be read-only
   * @param offset of the first byte, in the segment
   * @param lengthBytes how many, 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param from the peer's memory, which it registered for {@link Use#PEER_READS}
   * @param remoteOffset where in the peer's memory, in bytes; the whole range must be within it
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  long iread(
      MemorySegment into, long offset, long lengthBytes, RemoteMemory from, long remoteOffset);

  /**
   * Fills a whole segment from the beginning of the peer's memory; see {@link #iread(MemorySegment,
   * long, long, RemoteMemory, long)}.
   *
   * @param into host memory to read into, which may not be read-only
   * @param from the peer's memory, or a {@linkplain RemoteMemory#slice slice} of it; at least as
   *     long
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  default long iread(MemorySegment into, RemoteMemory from) {
    return iread(into, 0, into.byteSize(), from, 0);
  }

  /**
   * As {@link #iread(MemorySegment, long, long, RemoteMemory, long)}, into memory that is
   * registered for {@link Use#RECEIVE}.
   *
   * @param into memory to read into, registered with this communicator and not staged
   * @param offset of the first byte, in the registered memory; ignored if the length is 0
   * @param lengthBytes how many, 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param from the peer's memory, which it registered for {@link Use#PEER_READS}
   * @param remoteOffset where in the peer's memory, in bytes; the whole range must be within it
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  long iread(
      Registration into, long offset, long lengthBytes, RemoteMemory from, long remoteOffset);

  /**
   * Makes progress and returns the state of a request. A request that is over is reported once, and
   * its id is stale from then on. While a progress thread ({@link ProgressThreads}) copies data,
   * every request is reported as in progress; after 5 ms of that, a test waits for the thread, up
   * to 20 ms.
   *
   * @param request what a posting call of this communicator returned: an id, or {@link
   *     Result#NOTHING_TO_DO}, which is done with 0 bytes
   * @return 0 or more if it is done: the number of bytes transferred. For a receive it may be less
   *     than the buffer's length, and for a send less than the message's length if the receive was
   *     shorter; {@link Result#IN_PROGRESS}; {@link Result#STALE_REQUEST}; or the {@link
   *     FailureCause#code} of a failure
   */
  long test(long request);

  /**
   * Gives a request a number, which a {@link Poller} tells together with its end: what the request
   * is to the caller, so that nobody has to look it up. To be called with what a posting call
   * returned, before the next poll: {@code comm.withCookie(comm.isend(segment, tag), chunk)}.
   *
   * @param request what a posting call of this communicator returned; if that is no request id,
   *     nothing happens
   * @param cookie any number; a request without one has 0
   * @return the first argument, unchanged
   */
  long withCookie(long request, long cookie);

  /**
   * How a request failed. It is known after {@link #test} reported the failure and until the
   * request's slot is used again.
   *
   * @param request the id of a request of this communicator
   * @return empty if it did not fail, or its slot is used again
   */
  Optional<Failure> failure(long request);

  /**
   * {@return how its data rails are doing: which are in use, and how fast each is taken to be} It
   * is a look at this moment, and allocates.
   */
  List<RailStatus> rails();

  /** Makes progress for the communicator's endpoint, without testing a request. */
  void progress();

  /**
   * Closes it: tells the peer, fails requests in flight with {@link FailureCause#CLOSED}, and
   * deregisters its memory. Takes at most {@link TransportOptions#closeTimeout()}; an interrupt
   * does not end it before, since NICs may use the memory until then. Other communicators are not
   * disturbed. A second call does nothing.
   */
  @Override
  void close();

  /**
   * Closes it without waiting for the peer: requests in flight fail with {@link
   * FailureCause#ABORTED} here and {@link FailureCause#PEER_ABORTED} at the peer. It has the same
   * time limit.
   */
  void abort();
}
