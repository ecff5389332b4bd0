package org.jofi.fabric;

import java.util.Optional;

/**
 * An enabled reliable connectionless endpoint: fi_endpoint(3), type FI_EP_RDM. Only one thread at a
 * time may use it, its queues and its address vector.
 *
 * <p><b>The posting calls</b> take raw addresses and allocate nothing. They return
 *
 * <ul>
 *   <li>0: posted. The buffer and the context slot belong to the provider until the completion is
 *       polled.
 *   <li>{@code -EAGAIN}: nothing was posted; poll the queues, then try again. The first operations
 *       to a peer return it until the provider has set up its connection.
 *   <li>another negative {@link FabricErrno}: nothing was posted, and it is no use to try again:
 *       {@code -EMSGSIZE} too long, {@code -EINVAL} bad argument, such as a negative length or a
 *       slot that is none, {@code -ENOSYS} or {@code -EOPNOTSUPP} not supported by this provider,
 *       {@code -EHOSTUNREACH} or {@code -ENOTCONN} the peer is gone.
 * </ul>
 *
 * Addresses must be in valid memory of this process (or its GPU), inside the region whose
 * descriptor is passed; providers do not check this. A descriptor of 0 means none: that is right
 * for host memory if {@link MrMode#LOCAL} was not negotiated, and returns {@code -EINVAL} if it
 * was. Lengths are in bytes and may be 0. No order between operations is guaranteed beyond {@link
 * FabricInfo#messageOrder()}.
 *
 * @see <a href="https://ofiwg.github.io/libfabric/main/man/fi_rma.3.html">fi_rma(3)</a>
 */
public interface Endpoint extends AutoCloseable {

  /** {@return the domain that it was opened in} */
  Domain domain();

  /** {@return its name in error messages} */
  String label();

  /**
   * {@return its address, for a peer's {@link AddressVector#insert}: fi_getname(3)} A fresh copy.
   */
  byte[] address();

  /**
   * {@return how long its operations may be: as when it was enabled, or an option was last set}
   * Longer ones return {@code -EMSGSIZE}. May be called on the data path.
   */
  EndpointLimits limits();

  /**
   * Why a {@link #read} of this endpoint's own memory may not be one by the NIC, so that it does
   * not flush what the NIC wrote there before: the call that the provider refused.
   *
   * @return empty if the NIC does it
   */
  default Optional<FabricException> ownReadRefusal() {
    return Optional.empty();
  }

  /**
   * Reads an option: fi_getopt.
   *
   * @param option which one
   * @return its value; 0 or 1 for an option that is a boolean
   * @throws FabricException with {@code ENOPROTOOPT} if the provider has no such option
   */
  long option(EndpointOption option);

  /**
   * Sets an option on the enabled endpoint: fi_setopt. Options that must be set before it is
   * enabled belong in the {@link EndpointRequest}.
   *
   * @param option which one
   * @param value its new value; 0 or 1 for an option that is a boolean
   * @throws FabricException with {@code ENOPROTOOPT} if the provider has no such option, {@code
   *     EINVAL} if it does not accept the value
   */
  void setOption(EndpointOption option, long value);

  /**
   * What was moved until now between this endpoint and a peer. It is for finding out whether a link
   * works on which an operation takes long, and takes up to a millisecond.
   *
   * @param peer the peer's address, as {@link #address}
   * @return empty if the provider cannot tell
   */
  default Optional<LinkTraffic> linkTraffic(byte[] peer) {
    return Optional.empty();
  }

  /**
   * Sends a message: fi_send.
   *
   * @param address first byte of the buffer, in this process or on its GPU; may be 0 if the length
   *     is 0
   * @param lengthBytes length of the message in bytes, 0 to {@link EndpointLimits#sendBytes()}
   * @param descriptor {@link MemoryRegion#descriptor()} of the region that the buffer is in, or 0
   *     for none
   * @param peer number of the peer, from {@link AddressVector#insert}
   * @param context a free slot of the transmit queue, which the completion will name
   * @return 0 if it was posted; {@code -EAGAIN} if it has to be tried again after polling; another
   *     negative {@link FabricErrno} if it is no use to try again
   */
  default int send(long address, long lengthBytes, long descriptor, long peer, int context) {
    return send(address, lengthBytes, descriptor, peer, context, PostFlags.NONE);
  }

  /**
   * Sends a message: fi_send, fi_sendmsg.
   *
   * @param address first byte of the buffer, in this process or on its GPU; may be 0 if the length
   *     is 0
   * @param lengthBytes length of the message in bytes, 0 to {@link EndpointLimits#sendBytes()}
   * @param descriptor {@link MemoryRegion#descriptor()} of the region that the buffer is in, or 0
   *     for none
   * @param peer number of the peer, from {@link AddressVector#insert}
   * @param context a free slot of the transmit queue, which the completion will name
   * @param flags {@link PostFlags#NONE} or {@link PostFlags#DELIVERY_COMPLETE}
   * @return 0 if it was posted; {@code -EAGAIN} if it has to be tried again after polling; another
   *     negative {@link FabricErrno} if it is no use to try again
   */
  int send(long address, long lengthBytes, long descriptor, long peer, int context, long flags);

  /**
   * Sends a message with immediate data: fi_senddata.
   *
   * @param address first byte of the buffer, in this process or on its GPU; may be 0 if the length
   *     is 0
   * @param lengthBytes length of the message in bytes, 0 to {@link EndpointLimits#sendBytes()}
   * @param descriptor {@link MemoryRegion#descriptor()} of the region that the buffer is in, or 0
   *     for none
   * @param data the low {@link FabricLimits#cqDataBytes()} bytes of it arrive
   * @param peer number of the peer, from {@link AddressVector#insert}
   * @param context a free slot of the transmit queue, which the completion will name
   * @return 0 if it was posted; {@code -EAGAIN} if it has to be tried again after polling; another
   *     negative {@link FabricErrno} if it is no use to try again
   */
  default int sendData(
      long address, long lengthBytes, long descriptor, long data, long peer, int context) {
    return sendData(address, lengthBytes, descriptor, data, peer, context, PostFlags.NONE);
  }

  /**
   * Sends a message with immediate data: fi_senddata, fi_sendmsg.
   *
   * @param address first byte of the buffer, in this process or on its GPU; may be 0 if the length
   *     is 0
   * @param lengthBytes length of the message in bytes, 0 to {@link EndpointLimits#sendBytes()}
   * @param descriptor {@link MemoryRegion#descriptor()} of the region that the buffer is in, or 0
   *     for none
   * @param data the low {@link FabricLimits#cqDataBytes()} bytes of it arrive
   * @param peer number of the peer, from {@link AddressVector#insert}
   * @param context a free slot of the transmit queue, which the completion will name
   * @param flags as those of {@link #send(long, long, long, long, int, long)}
   * @return 0 if it was posted; {@code -EAGAIN} if it has to be tried again after polling; another
   *     negative {@link FabricErrno} if it is no use to try again
   */
  int sendData(
      long address,
      long lengthBytes,
      long descriptor,
      long data,
      long peer,
      int context,
      long flags);

  /**
   * Sends a message of at most {@link EndpointLimits#injectedSendBytes()}: fi_inject. The caller
   * may reuse the buffer as soon as the call returns. No completion is delivered, unless the send
   * fails.
   *
   * @param address first byte of the message, in host memory; no descriptor is needed
   * @param lengthBytes its length in bytes, 0 to {@link EndpointLimits#injectedSendBytes()}
   * @param peer number of the peer, from {@link AddressVector#insert}
   * @return 0 if it was posted; {@code -EAGAIN} if it has to be tried again after polling; another
   *     negative {@link FabricErrno} if it is no use to try again
   */
  int inject(long address, long lengthBytes, long peer);

  /**
   * Posts a buffer for one message: fi_recv.
   *
   * @param address first byte of the buffer, in this process or on its GPU; may be 0 if the length
   *     is 0
   * @param lengthBytes length of the buffer in bytes, 0 or more. It may be more than {@link
   *     EndpointLimits#sendBytes()}, but not more than {@link FabricLimits#maxMessageBytes()}.
   * @param descriptor {@link MemoryRegion#descriptor()} of the region that the buffer is in, or 0
   *     for none
   * @param peer the peer to receive from, or {@link AddressVector#ANY}; naming a peer needs {@link
   *     Capability#DIRECTED_RECV}, otherwise the call returns {@code -EOPNOTSUPP}
   * @param context a free slot of the receive queue, which the completion will name
   * @return 0 if it was posted; {@code -EAGAIN} if it has to be tried again after polling; another
   *     negative {@link FabricErrno} if it is no use to try again
   */
  int recv(long address, long lengthBytes, long descriptor, long peer, int context);

  /**
   * Writes into a peer's region: fi_write, fi_writemsg.
   *
   * @param address first byte of the data, in this process or on its GPU; may be 0 if the length is
   *     0
   * @param lengthBytes how many bytes to write, 0 to {@link EndpointLimits#rmaBytes()}; with {@link
   *     PostFlags#INJECT} to {@link EndpointLimits#injectedRmaBytes()}
   * @param descriptor {@link MemoryRegion#descriptor()} of the region that the data is in, or 0 for
   *     none; {@link PostFlags#INJECT} needs none
   * @param peer number of the peer, from {@link AddressVector#insert}
   * @param remoteAddress where to write, in the form that the peer's {@link
   *     FabricInfo#addressing()} says
   * @param key the peer's key for the region
   * @param context a free slot of the transmit queue, which the completion will name
   * @param flags {@link PostFlags}
   * @return 0 if it was posted; {@code -EAGAIN} if it has to be tried again after polling; another
   *     negative {@link FabricErrno} if it is no use to try again
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
   * @param address first byte of the write's data, in this process or on its GPU; may be 0 if the
   *     length is 0
   * @param lengthBytes how many bytes to write, 0 to {@link EndpointLimits#rmaBytes()}; with {@link
   *     PostFlags#INJECT} to {@link EndpointLimits#injectedRmaBytes()}
   * @param descriptor {@link MemoryRegion#descriptor()} of the region that the data is in, or 0 for
   *     none; {@link PostFlags#INJECT} needs none
   * @param data the low {@link FabricLimits#cqDataBytes()} bytes of it arrive
   * @param peer number of the peer, from {@link AddressVector#insert}
   * @param remoteAddress where to write, in the form that the peer's {@link
   *     FabricInfo#addressing()} says
   * @param key the peer's key for the region
   * @param context a free slot of the transmit queue, which the completion will name
   * @param flags {@link PostFlags}
   * @return 0 if it was posted; {@code -EAGAIN} if it has to be tried again after polling; another
   *     negative {@link FabricErrno} if it is no use to try again
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

  /**
   * Reads from a peer's region: fi_read. When it completes, the data is in the local buffer.
   *
   * @param address first byte of the local buffer, in this process or on its GPU; may be 0 if the
   *     length is 0
   * @param lengthBytes how many bytes to read, 0 to {@link EndpointLimits#rmaBytes()}
   * @param descriptor {@link MemoryRegion#descriptor()} of the region that the buffer is in, or 0
   *     for none
   * @param peer number of the peer, from {@link AddressVector#insert}
   * @param remoteAddress where to read, in the form that the peer's {@link FabricInfo#addressing()}
   *     says
   * @param key the peer's key for the region
   * @param context a free slot of the transmit queue, which the completion will name
   * @return 0 if it was posted; {@code -EAGAIN} if it has to be tried again after polling; another
   *     negative {@link FabricErrno} if it is no use to try again
   */
  int read(
      long address,
      long lengthBytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context);

  /**
   * Asks the provider to cancel a posted receive: fi_cancel. If it does, the receive completes with
   * {@code ECANCELED}; if it was too late, the receive completes as usual. The slot is free only
   * after that completion. Sends, writes and reads cannot be cancelled.
   *
   * @param context the receive's slot, of the receive queue
   * @return 0, even if the provider does not know whether there was something to cancel; {@code
   *     -EINVAL} if there is no such slot; or an error such as {@code -ENOENT} if it finds nothing
   *     to cancel
   */
  int cancel(int context);

  /**
   * Closes it; a second call does nothing. Operations in flight are dropped, with or without
   * completions. Their buffers are free once this returns; their slots are once the completion
   * queue was found to be empty, or is closed as well.
   *
   * @throws FabricException with {@code EBUSY} while endpoint-scoped regions are bound to it; the
   *     message names them; with {@code ETIMEDOUT} if the provider waits for longer than 10 s for
   *     operations to end, as efa does: it stays open, its completion queues cannot be polled, and
   *     closing it again tells whether the provider has come back
   */
  @Override
  void close();
}
