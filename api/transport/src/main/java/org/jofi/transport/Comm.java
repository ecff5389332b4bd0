package org.jofi.transport;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A connected communicator. One thread at a time, closing included.
 *
 * <p><b>Posting calls</b> wait for no peer and no network, never throw for what the network or the
 * peer does, and allocate nothing. They return a request id, which is positive, or {@link
 * Result#TRY_AGAIN}, or {@link Result#NOTHING_TO_DO}. Posting to a communicator that failed
 * succeeds: the request reports the failure. The buffer belongs to the transport until the request
 * is over. Where endpoints have {@linkplain ProgressThreads progress threads}, a posting call waits
 * for the endpoint's thread as long as that copies what it just received, a few milliseconds at
 * most; {@link #test} answers instead.
 *
 * <p>Once it is closed, every call but {@link #state}, {@link #test}, {@link #failure} and {@link
 * #close} throws {@link IllegalStateException}.
 */
public interface Comm extends AutoCloseable {

  /** The device that it is on. */
  Device device();

  /** What errors call it: this side's id, the peer and the device. */
  String label();

  /** Where it is in its life. */
  CommState state();

  /** How it failed, while it is {@link CommState#FAILED} or was before it was closed. */
  Optional<Failure> failure();

  /**
   * Registers memory for requests of this communicator: fi_mr(3). Any thread, also while another is
   * in a call: NICs may take seconds for large memory.
   *
   * @throws TransportException if a NIC cannot, with {@link FailureCause#FABRIC} and the rail in
   *     the message, or {@link FailureCause#EXHAUSTED}; nothing stays registered then
   */
  Registration regMr(Buffer buffer);

  /** Registers host memory of a segment; see {@link #regMr(Buffer)} and {@link Buffer#host}. */
  default Registration regMr(MemorySegment segment) {
    return regMr(Buffer.host(segment));
  }

  /**
   * Gives a registration back.
   *
   * @throws IllegalStateException while a request that uses it is in flight, or failed at its bound
   *     with operations that the NIC still has; it stays registered, and the memory must stay
   * @throws IllegalArgumentException if it is another communicator's, or was given back before
   */
  void deregMr(Registration registration);

  /**
   * Writes into the peer's memory: fi_write(3). Striped over the rails when long.
   *
   * @param address first byte to write from, within the registration
   * @param lengthBytes how many, 0 or more
   * @param registration of the local memory
   * @param remote the peer's memory
   * @param remoteOffsetBytes where in it, with all of the length within it
   * @return a request id, or {@link Result#TRY_AGAIN}
   * @throws IllegalArgumentException if a range leaves its memory
   */
  long iwrite(
      long address,
      long lengthBytes,
      Registration registration,
      RemoteMemory remote,
      long remoteOffsetBytes);

  /**
   * Writes a few bytes, which are the caller's again at once and need no registration: they are
   * copied. As {@link #iwrite} else; an injected write, fi_inject_write(3), would not tell when it
   * is there.
   *
   * @param address first byte, in host memory of this process, not 0 unless nothing is written. No
   *     registration vouches for it, and it is trusted otherwise: an address of memory that is not
   *     there, or of a device, ends the process
   * @param lengthBytes at most {@link DeviceLimits#inlineWriteBytes()}
   * @return a request id, or {@link Result#TRY_AGAIN}
   * @throws IllegalArgumentException if it is too long, or leaves the remote memory, or is at 0
   */
  long iwriteInline(long address, long lengthBytes, RemoteMemory remote, long remoteOffsetBytes);

  /**
   * Reads from the peer's memory: fi_read(3). As {@link #iwrite}, the other way round.
   *
   * @return a request id, or {@link Result#TRY_AGAIN}
   */
  long iread(
      long address,
      long lengthBytes,
      Registration registration,
      RemoteMemory remote,
      long remoteOffsetBytes);

  /**
   * How a request fares; makes progress. A request that is over is reported once; its id is stale
   * from then on. While a progress thread ({@link ProgressThreads}) copies data, every request is
   * said to be in progress; after 5 ms of that, a test waits for the thread, up to 20 ms.
   *
   * @return 0 or more: done, and so many bytes moved, which for a receive may be fewer than asked
   *     for and for a send fewer than given if the receive was shorter; {@link Result#IN_PROGRESS};
   *     {@link Result#STALE_REQUEST}; or the {@link FailureCause#code} of a failure
   */
  long test(long request);

  /**
   * How a request failed, after {@link #test} reported it and until its slot is used again.
   *
   * @return empty if it did not fail, or it was too long ago
   */
  Optional<Failure> failure(long request);

  /** Makes progress for the communicator's endpoint without asking for a request. */
  void progress();

  /**
   * Closes it: tells the peer, fails what is in flight with {@link FailureCause#CLOSED}, gives its
   * registrations back. Bounded by {@link TransportOptions#closeTimeout()}; other communicators are
   * not disturbed. Again is a no-op.
   */
  @Override
  void close();

  /**
   * Closes it without waiting for the peer: what is in flight fails with {@link
   * FailureCause#ABORTED} here and {@link FailureCause#PEER_ABORTED} there. Bounded likewise.
   */
  void abort();
}
