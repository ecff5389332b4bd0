package org.jofi.fabric;

/**
 * A reliable connectionless endpoint, enabled: fi_endpoint(3), type FI_EP_RDM. One thread at a
 * time, together with its queues and its address vector.
 *
 * <p><b>The posting calls</b> take raw addresses and allocate nothing. They return
 *
 * <ul>
 *   <li>0: posted. The buffer, and the context slot, belong to the provider until the completion
 *       was polled.
 *   <li>{@code -EAGAIN}: nothing was posted; poll the queues, then try again. The first operations
 *       to a peer get it until a connection stands.
 *   <li>another negative {@link FabricErrno}: nothing was posted and trying again is no use: {@code
 *       -EMSGSIZE} too long, {@code -EINVAL} bad argument, {@code -ENOSYS} or {@code -EOPNOTSUPP}
 *       not offered by this provider, {@code -EHOSTUNREACH}, {@code -ENOTCONN} peer gone.
 * </ul>
 *
 * Addresses must lie in live memory of this process (or its GPU), inside the region whose
 * descriptor is given; a provider does not check it. A descriptor of 0 stands for none, which is
 * right for host memory where {@link MrMode#LOCAL} was not negotiated, and {@code -EINVAL} where it
 * was. Lengths are bytes and may be 0. Order between operations is only what {@link
 * FabricInfo#messageOrder()} tells.
 *
 * @see <a href="https://ofiwg.github.io/libfabric/main/man/fi_rma.3.html">fi_rma(3)</a>
 */
public interface Endpoint extends AutoCloseable {

  /** The NIC that it is on. */
  Domain domain();

  /** What errors call it. */
  String label();

  /** Its address, for a peer's {@link AddressVector#insert}: fi_getname(3). A fresh copy. */
  byte[] address();

  /**
   * Reads an option: fi_getopt.
   *
   * @throws FabricException with {@code ENOPROTOOPT} if the provider has no such option
   */
  long option(EndpointOption option);

  /**
   * Sets an option on the enabled endpoint: fi_setopt. Those that must come earlier belong into the
   * {@link EndpointRequest}.
   *
   * @throws FabricException with {@code ENOPROTOOPT} if the provider has no such option, {@code
   *     EINVAL} if it does not take the value
   */
  void setOption(EndpointOption option, long value);

  /** Sends a message: fi_send. */
  int send(long address, long lengthBytes, long descriptor, long peer, int context);

  /** Sends a message with immediate data: fi_senddata. */
  int sendData(long address, long lengthBytes, long descriptor, long data, long peer, int context);

  /**
   * Sends a message of at most {@link FabricLimits#injectBytes()}, and the buffer is the caller's
   * again at once: fi_inject. No completion is delivered, unless it fails.
   */
  int inject(long address, long lengthBytes, long peer);

  /**
   * Posts a buffer for one message: fi_recv.
   *
   * @param peer whom to receive from, or {@link AddressVector#ANY}; a peer only with {@link
   *     Capability#DIRECTED_RECV}, else {@code -EOPNOTSUPP}
   */
  int recv(long address, long lengthBytes, long descriptor, long peer, int context);

  /**
   * Writes into a peer's region: fi_write, fi_writemsg.
   *
   * @param remoteAddress where, as the peer's {@link FabricInfo#addressing()} has it
   * @param key the peer's key for the region
   * @param flags {@link PostFlags}
   */
  int write(
      long address,
      long lengthBytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags);

  /**
   * Writes into a peer's region and delivers immediate data to the queue of the peer's endpoint,
   * after the write's data: fi_writedata, fi_writemsg.
   *
   * @param data the low {@link FabricLimits#cqDataBytes()} bytes of it arrive
   */
  int writeData(
      long address,
      long lengthBytes,
      long descriptor,
      long data,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags);

  /** Reads from a peer's region: fi_read. When it completes, the bytes are here. */
  int read(
      long address,
      long lengthBytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context);

  /**
   * Asks the provider to drop a posted receive: fi_cancel. If it did, the receive completes with
   * {@code ECANCELED}; if it was too late, as usual. The slot is free only then. What was sent,
   * written or read cannot be taken back.
   *
   * @param context the receive's slot, of the receive queue
   * @return 0, also if the provider cannot tell whether there was something to cancel; or {@code
   *     -ENOENT} and the like if the provider knows nothing to cancel
   */
  int cancel(int context);

  /**
   * Closes it; again is a no-op. Operations in flight are dropped, with or without completions:
   * their buffers and slots are free once the queue is closed, too.
   *
   * @throws FabricException with {@code EBUSY}, naming them, while endpoint-scoped regions are
   *     bound to it
   */
  @Override
  void close();
}
